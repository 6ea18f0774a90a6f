// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// containerOf returns the container that a session is about. An *ending has the reason if it, or a port of the session,
// is not in the template of the Instance: what else the Pod has, such as a sidecar that the cell's operator injects, is
// not the consumer's.
func containerOf(template *v1alpha.InstanceSpec, spec *v1alpha.InstanceSessionSpec) (string, error) {
	own := containersOf(template)
	if spec.Type == v1alpha.SessionPortForward {
		for _, port := range spec.Ports {
			if !hasPort(template, port) {
				return "", notOwn("the Instance has no TCP port %d; declare it in ports of a container of the Workload", port)
			}
		}
		return "", nil
	}
	names := make([]string, 0, len(own))
	for i := range own {
		names = append(names, own[i].Name)
	}
	main := template.Runtime.Sandbox
	switch {
	case slices.Contains(names, spec.ContainerName):
		return spec.ContainerName, nil
	case spec.ContainerName == "" && main != nil && len(main.Containers) == 1:
		return main.Containers[0].Name, nil
	case len(names) == 0:
		return "", notOwn("the Instance has no containers")
	case spec.ContainerName == "":
		return "", notOwn("the Instance has several containers, name one of them: %s", strings.Join(names, ", "))
	}
	return "", notOwn("the Instance has no container %q; it has %s", spec.ContainerName, strings.Join(names, ", "))
}

func notOwn(format string, args ...any) error {
	return &ending{reason: v1alpha.ReasonSessionFailed, message: fmt.Sprintf(format, args...)}
}

func containersOf(template *v1alpha.InstanceSpec) []v1alpha.SandboxContainer {
	if template.Runtime.Sandbox == nil {
		return nil
	}
	return slices.Concat(template.Runtime.Sandbox.Containers, template.Runtime.Sandbox.InitContainers)
}

// hasPort reports whether an Instance declares a port that a stream of bytes can lead to.
func hasPort(template *v1alpha.InstanceSpec, port int32) bool {
	var declared []v1alpha.NamedPort
	for _, container := range containersOf(template) {
		declared = append(declared, container.Ports...)
	}
	if machine := template.Runtime.VirtualMachine; machine != nil {
		declared = append(declared, machine.Ports...)
	}
	return slices.ContainsFunc(declared, func(namedPort v1alpha.NamedPort) bool {
		return namedPort.Port == port && (namedPort.Protocol == nil || *namedPort.Protocol == corev1.ProtocolTCP)
	})
}
