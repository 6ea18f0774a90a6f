// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Reference is an object in the Workload's namespace or project that the user must be allowed to use.
type Reference struct {
	// Path is the first field of the Workload that references it.
	Path *field.Path
	// Group, Resource and Verb describe the permission that the user needs.
	Group, Resource, Verb string
	// Namespace of the object; "": the Workload's namespace.
	Namespace string
	// Name of the object.
	Name string
}

// References lists the networks, ConfigMaps and Secrets that the template references, each once.
func References(workload *v1alpha.Workload) []Reference {
	found := &references{seen: map[reference]bool{}}
	spec := &workload.Spec.Template.Spec
	path := field.NewPath("spec", "template", "spec")
	for i := range spec.NetworkInterfaces {
		network := &spec.NetworkInterfaces[i].Network
		found.add(path.Child("networkInterfaces").Index(i).Child("network", "name"), networks,
			types.NamespacedName{Namespace: network.Namespace, Name: network.Name})
	}
	for _, data := range templates.DataReferences(spec, path) {
		named := secrets
		if data.Kind == templates.KindConfigMap {
			named = configMaps
		}
		found.add(data.Path, named, types.NamespacedName{Name: data.Name})
	}
	return found.list
}

// kind is a kind of object that a template references.
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
	name types.NamespacedName
}

type references struct {
	list []Reference
	seen map[reference]bool
}

// add ignores references without a name: validation reports them.
func (r *references) add(path *field.Path, named kind, name types.NamespacedName) {
	key := reference{kind: named, name: name}
	if name.Name == "" || r.seen[key] {
		return
	}
	r.seen[key] = true
	r.list = append(r.list, Reference{
		Path: path, Group: named.group, Resource: named.resource, Verb: named.verb, Namespace: name.Namespace, Name: name.Name,
	})
}
