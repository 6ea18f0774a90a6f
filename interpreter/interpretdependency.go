// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"cmp"
	"maps"
	"slices"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// InterpretDependency are the ConfigMaps and Secrets that the templates of a deployment name, each once, by kind and
// name, and its InstanceSlices. Optional ones are among them: they must be in the cell when they are on the hub. The slices are
// selected by their label: Karmada writes the dependencies into the binding, which each change of a status writes again.
func InterpretDependency(object *v1alpha.WorkloadDeployment) []configv1alpha1.DependentObjectReference {
	var dependencies []configv1alpha1.DependentObjectReference
	named := map[templates.DataObject]bool{}
	for _, template := range object.Spec.Templates() {
		for _, data := range slices.Concat(templates.DataObjects(&template.Spec)) {
			named[data] = true
		}
	}
	for _, data := range slices.SortedFunc(maps.Keys(named), templates.DataObject.Compare) {
		dependencies = append(dependencies, configv1alpha1.DependentObjectReference{
			APIVersion: "v1", Kind: data.Kind, Namespace: object.Namespace, Name: data.Name,
		})
	}
	if uid := object.Labels[v1alpha.LabelDeploymentUID]; object.Spec.Slices > 0 && uid != "" {
		dependencies = append(dependencies, configv1alpha1.DependentObjectReference{
			APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindInstanceSlice, Namespace: object.Namespace,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha.LabelDeploymentUID: uid}},
		})
	}
	// The order in which Karmada sorts the dependencies of the customization.
	slices.SortFunc(dependencies, func(a, b configv1alpha1.DependentObjectReference) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return dependencies
}
