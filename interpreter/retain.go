// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// Retain is the desired object with the fields of the observed one that the cell owns: the replicas that an autoscaler in the
// cell has set. They are kept only where maxReplicas and metrics allow scaling, and moved to maxReplicas when they are above:
// lowering maxReplicas under load must not reduce the deployment to minReplicas. Below they stay, since a cell of several runs
// less than minReplicas; but not 0, which would switch the autoscaler off.
//
// Finalizers, owner references, labels and annotations of the cell are not retained here. Karmada's ObjectWatcher has done so
// before, and knows which annotations were removed on the hub.
func Retain(desired, observed *v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	retained := desired.DeepCopy()
	scale := &desired.Spec.ScaleSettings
	if observed.Spec.Replicas == nil || scale.MaxReplicas == nil || len(scale.Metrics) == 0 {
		return retained
	}
	retained.Spec.Replicas = new(max(1, min(*observed.Spec.Replicas, *scale.MaxReplicas)))
	return retained
}
