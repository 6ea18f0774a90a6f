// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// dataNames refuses names of ConfigMaps and Secrets that the add-on gives to snapshots.
func (p *problems) dataNames(at place, spec *v1alpha.InstanceSpec) {
	for _, reference := range templates.DataReferences(spec, at.path) {
		if _, ok := templates.ParseSnapshot(templates.DataObject{Kind: reference.Kind, Name: reference.Name}); ok {
			p.invalid(place{path: reference.Path, key: reference.Path}, reference.Name,
				"is a name that the add-on gives to a snapshot; name the object itself, and roll back with 'kubectl compute rollout undo'")
		}
	}
}

// onDataChange requires that the template names the objects, so that a misspelled name is no silent InPlace.
func (p *problems) onDataChange(at place, spec *v1alpha.WorkloadSpec) {
	change := spec.Rollout.OnDataChange
	if change == nil {
		return
	}
	switch change.Policy {
	case v1alpha.DataInPlace, v1alpha.DataRollout:
	default:
		p.unsupported(at.child("policy"), string(change.Policy), string(v1alpha.DataInPlace), string(v1alpha.DataRollout))
	}
	if change.Policy == v1alpha.DataInPlace && len(change.ConfigMaps)+len(change.Secrets) > 0 {
		p.forbidden(at, string(change.Policy), "names have no effect with policy InPlace; set policy Rollout, or remove the names")
		return
	}
	rolling := templates.RollingData(spec.Rollout, &spec.Template)
	p.rollingNames(at.child("configMaps"), change.ConfigMaps, templates.KindConfigMap, rolling)
	p.rollingNames(at.child("secrets"), change.Secrets, templates.KindSecret, rolling)
	if len(rolling) > templates.MaxRollingData {
		p.invalid(at, len(rolling), fmt.Sprintf("at most %d ConfigMaps and Secrets can roll out with a Workload; list fewer names",
			templates.MaxRollingData))
	}
	for _, object := range slices.SortedFunc(maps.Keys(rolling), templates.DataObject.Compare) {
		if len(object.Name) > templates.MaxSnapshotted {
			p.invalid(at, object.Name, fmt.Sprintf("the name of a %s that rolls out may have at most %d bytes; rename it, or list other names",
				object.Kind, templates.MaxSnapshotted))
		}
	}
}

func (p *problems) rollingNames(at place, names []string, kind string, rolling map[templates.DataObject]bool) {
	seen := sets.New[string]()
	for i, name := range names {
		item := at.item(i, name)
		p.unique(item, seen, name)
		if _, named := rolling[templates.DataObject{Kind: kind, Name: name}]; !named && rolling != nil {
			p.invalid(item, name, fmt.Sprintf("no container or volume of spec.template names this %s; correct the name, or remove it", kind))
		}
	}
}
