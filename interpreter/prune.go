// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// hubOnly are the annotations that mean nothing outside of the hub, in the order of their names.
var hubOnly = []string{
	v1alpha.AnnotationFederationNamespace,
	v1alpha.AnnotationProjectName,
	v1alpha.AnnotationProjectGeneration,
}

// Prune is a deployment without what only the hub needs. Karmada itself takes out the status, finalizers, owner
// references and what an API server fills in.
//
// Karmada 1.18 defines this operation and its answer, and never asks: its ResourceInterpreter has no Prune, nor
// has a ResourceInterpreterCustomization. Until it does, these annotations reach the cells, where nothing reads them.
func Prune(object *v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	pruned := object.DeepCopy()
	for _, key := range hubOnly {
		delete(pruned.Annotations, key)
	}
	return pruned
}
