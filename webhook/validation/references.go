// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Reference is something in the Workload's namespace or project that the user must be allowed to use.
type Reference struct {
	// Path is where the Workload names it first.
	Path *field.Path
	// Group and Resource say what it is, and Verb what the user must be allowed to do with it.
	Group, Resource, Verb string
	// Name of the object.
	Name string
}

// References lists the networks, ConfigMaps and Secrets that the template names, each once. Without them a Workload
// would be a way to read other people's Secrets.
func References(workload *v1alpha.Workload) []Reference {
	found := &references{seen: map[reference]bool{}}
	spec := &workload.Spec.Template.Spec
	path := field.NewPath("spec", "template", "spec")
	for i := range spec.NetworkInterfaces {
		found.add(path.Child("networkInterfaces").Index(i).Child("network", "name"), networks, spec.NetworkInterfaces[i].Network.Name)
	}
	if sandbox := spec.Runtime.Sandbox; sandbox != nil {
		at := path.Child("runtime", "sandbox")
		for i := range sandbox.ImagePullSecrets {
			found.add(at.Child("imagePullSecrets").Index(i).Child("name"), secrets, sandbox.ImagePullSecrets[i].Name)
		}
		for i := range sandbox.Containers {
			found.env(at.Child("containers").Index(i).Child("env"), sandbox.Containers[i].Env)
		}
	}
	for i := range spec.Volumes {
		at := path.Child("volumes").Index(i)
		if source := spec.Volumes[i].ConfigMap; source != nil {
			found.add(at.Child("configMap", "name"), configMaps, source.Name)
		}
		if source := spec.Volumes[i].Secret; source != nil {
			found.add(at.Child("secret", "secretName"), secrets, source.SecretName)
		}
	}
	return found.list
}

// kind is a kind of object that a template names.
type kind struct {
	group, resource, verb string
}

var (
	networks   = kind{group: "networking.datumapis.com", resource: "networks", verb: "use"}
	configMaps = kind{resource: "configmaps", verb: "get"}
	secrets    = kind{resource: "secrets", verb: "get"}
)

type reference struct {
	kind kind
	name string
}

type references struct {
	list []Reference
	seen map[reference]bool
}

// add leaves out what has no name: validation refuses it.
func (r *references) add(path *field.Path, of kind, name string) {
	key := reference{kind: of, name: name}
	if name == "" || r.seen[key] {
		return
	}
	r.seen[key] = true
	r.list = append(r.list, Reference{Path: path, Group: of.group, Resource: of.resource, Verb: of.verb, Name: name})
}

func (r *references) env(path *field.Path, env []corev1.EnvVar) {
	for i := range env {
		source := env[i].ValueFrom
		if source == nil {
			continue
		}
		at := path.Index(i).Child("valueFrom")
		if source.ConfigMapKeyRef != nil {
			r.add(at.Child("configMapKeyRef", "name"), configMaps, source.ConfigMapKeyRef.Name)
		}
		if source.SecretKeyRef != nil {
			r.add(at.Child("secretKeyRef", "name"), secrets, source.SecretKeyRef.Name)
		}
	}
}
