// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"slices"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// InterpretDependency are the ConfigMaps and Secrets that the template of a deployment names, each once, by kind and
// name. Optional ones are among them: they must be in the cell when they are on the hub.
func InterpretDependency(object *v1alpha.WorkloadDeployment) []configv1alpha1.DependentObjectReference {
	var dependencies []configv1alpha1.DependentObjectReference
	named := slices.Concat(v1alpha.DataObjects(&object.Spec.Template.Spec))
	for _, data := range slices.SortedFunc(slices.Values(named), v1alpha.DataObject.Compare) {
		dependencies = append(dependencies, configv1alpha1.DependentObjectReference{
			APIVersion: "v1", Kind: data.Kind, Namespace: object.Namespace, Name: data.Name,
		})
	}
	return dependencies
}
