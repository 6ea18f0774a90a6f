// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// Retain is what the hub wants, with what the cell owns: the replicas that an autoscaler in the cell asked for. They
// count only where the hub lets replicas scale, by maxReplicas and metrics, and within minReplicas and maxReplicas. A
// number outside is moved to the nearer end and not dropped: who lowers maxReplicas under load must not fall to
// minReplicas.
//
// Finalizers, owner references, labels and annotations of the cell are not retained here: Karmada's ObjectWatcher
// has done so before it asks, and knows which annotations the hub has removed since.
func Retain(desired, observed *v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	retained := desired.DeepCopy()
	scale := &desired.Spec.ScaleSettings
	if observed.Spec.Replicas == nil || scale.MaxReplicas == nil || len(scale.Metrics) == 0 {
		return retained
	}
	retained.Spec.Replicas = observed.Spec.Replicas
	retained.Spec.Replicas = new(retained.Spec.DesiredReplicas())
	return retained
}
