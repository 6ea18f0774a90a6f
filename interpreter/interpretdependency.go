// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"cmp"
	"slices"
	"strings"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// InterpretDependency are the ConfigMaps and Secrets that the template of a deployment names, each once, by kind and
// name. Optional ones are among them: they must be in the cell when they are on the hub.
func InterpretDependency(object *v1alpha.WorkloadDeployment) []configv1alpha1.DependentObjectReference {
	var named []configv1alpha1.DependentObjectReference
	for _, data := range v1alpha.DataReferences(&object.Spec.Template.Spec, nil) {
		// Karmada refuses the whole answer for an empty name.
		if data.Name != "" {
			named = append(named, configv1alpha1.DependentObjectReference{
				APIVersion: "v1", Kind: data.Kind, Namespace: object.Namespace, Name: data.Name,
			})
		}
	}
	slices.SortFunc(named, func(a, b configv1alpha1.DependentObjectReference) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(named, func(a, b configv1alpha1.DependentObjectReference) bool {
		return a.Kind == b.Kind && a.Name == b.Name
	})
}
