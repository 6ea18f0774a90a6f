// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

// Constants of Karmada's Works and bindings.
const (
	// ExecutionFinalizer holds a Work until Karmada has deleted the Work's objects from the cell. Karmada honours it on
	// any Work and sets it only on its own ones.
	ExecutionFinalizer = "karmada.io/execution-controller"
	// LabelManagedByKarmada is on every object that Karmada may change or delete in a cell. Karmada sets it on the
	// manifests of its own Works, but not of other Works.
	LabelManagedByKarmada = "karmada.io/managed"
	// AnnotationAppliedPlacement, on a binding, has the placement that Karmada's scheduler has tried last. Without it, the scheduler
	// tries again.
	AnnotationAppliedPlacement = "policy.karmada.io/applied-placement"
)
