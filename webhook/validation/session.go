// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Bounds of spec.ttlSeconds of a session.
const (
	leastSessionTTL = 60
	mostSessionTTL  = 3600
)

// Session returns every problem of the spec of an InstanceSession, each with its field path. It repeats the rules of
// the CRD: the treatment of a session must not depend on the schema that an API server has loaded.
func Session(session *v1alpha.InstanceSession) field.ErrorList {
	spec, at := &session.Spec, field.NewPath("spec")
	var found field.ErrorList
	if _, _, ok := spec.Type.Permission(); !ok {
		found = append(found, field.NotSupported(at.Child("type"), spec.Type,
			[]v1alpha.InstanceSessionType{v1alpha.SessionLogs, v1alpha.SessionExec, v1alpha.SessionAttach, v1alpha.SessionPortForward}))
	}
	reference := at.Child("instanceRef")
	for _, problem := range validation.IsDNS1123Subdomain(spec.InstanceRef.Name) {
		found = append(found, field.Invalid(reference.Child("name"), spec.InstanceRef.Name, problem))
	}
	if spec.InstanceRef.UID == "" {
		found = append(found, field.Required(reference.Child("uid"), "it keeps the session from a successor of the Instance"))
	}
	if spec.ContainerName != "" {
		for _, problem := range validation.IsDNS1123Label(spec.ContainerName) {
			found = append(found, field.Invalid(at.Child("containerName"), spec.ContainerName, problem))
		}
	}
	if _, err := wire.SessionKey(spec.PublicKey); err != nil {
		found = append(found, field.Invalid(at.Child("publicKey"), field.OmitValueType{}, err.Error()))
	}
	if spec.TTLSeconds < leastSessionTTL || spec.TTLSeconds > mostSessionTTL {
		found = append(found, field.Invalid(at.Child("ttlSeconds"), spec.TTLSeconds,
			fmt.Sprintf("must be from %d to %d seconds", leastSessionTTL, mostSessionTTL)))
	}
	return append(found, sessionOptions(spec, at)...)
}

// sessionOptions are the problems of the fields that belong to some types only.
func sessionOptions(spec *v1alpha.InstanceSessionSpec, at *field.Path) field.ErrorList {
	var found field.ErrorList
	streams := spec.Type == v1alpha.SessionExec || spec.Type == v1alpha.SessionAttach
	if spec.Logs != nil && spec.Type != v1alpha.SessionLogs {
		found = append(found, field.Forbidden(at.Child("logs"), "it has an effect with type Logs only"))
	}
	if spec.Logs != nil && spec.Logs.SinceSeconds != nil && spec.Logs.SinceTime != nil {
		found = append(found, field.Forbidden(at.Child("logs", "sinceTime"), "set sinceSeconds or sinceTime, not both"))
	}
	if spec.Stdin && !streams {
		found = append(found, field.Forbidden(at.Child("stdin"), "it has an effect with types Exec and Attach only"))
	}
	if spec.TTY && !streams {
		found = append(found, field.Forbidden(at.Child("tty"), "it has an effect with types Exec and Attach only"))
	}
	found = append(found, sessionPorts(spec, at.Child("ports"))...)
	return append(found, sessionCommand(spec, at.Child("command"))...)
}

// sessionPorts are the problems of the ports.
func sessionPorts(spec *v1alpha.InstanceSessionSpec, at *field.Path) field.ErrorList {
	switch {
	case spec.Type == v1alpha.SessionPortForward && len(spec.Ports) == 0:
		return field.ErrorList{field.Required(at, "name the ports of the Instance to connect to")}
	case spec.Type != v1alpha.SessionPortForward && len(spec.Ports) > 0:
		return field.ErrorList{field.Forbidden(at, "it has an effect with type PortForward only")}
	case len(spec.Ports) > v1alpha.MaxSessionPorts:
		return field.ErrorList{field.TooMany(at, len(spec.Ports), v1alpha.MaxSessionPorts)}
	}
	var found field.ErrorList
	for i, port := range spec.Ports {
		for _, problem := range validation.IsValidPortNum(int(port)) {
			found = append(found, field.Invalid(at.Index(i), port, problem))
		}
	}
	return found
}

// sessionCommand are the problems of the command.
func sessionCommand(spec *v1alpha.InstanceSessionSpec, at *field.Path) field.ErrorList {
	bytes := 0
	for _, item := range spec.Command {
		bytes += len(item)
	}
	switch {
	case spec.Type == v1alpha.SessionExec && len(spec.Command) == 0:
		return field.ErrorList{field.Required(at, "name the program to run, and its arguments")}
	case spec.Type != v1alpha.SessionExec && len(spec.Command) > 0:
		return field.ErrorList{field.Forbidden(at, "it has an effect with type Exec only")}
	case len(spec.Command) > 64:
		return field.ErrorList{field.TooMany(at, len(spec.Command), 64)}
	case bytes > v1alpha.MaxSessionCommandBytes:
		return field.ErrorList{field.TooLong(at, nil, v1alpha.MaxSessionCommandBytes)}
	}
	return nil
}
