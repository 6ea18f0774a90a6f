// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// ReviseReplica is a deployment with a number of replicas for one cell. Karmada requests it wherever InterpretReplica is
// supported, also when every cell gets all replicas. The cell clamps the number to minReplicas and maxReplicas, so that a share
// below minReplicas has no effect.
func ReviseReplica(object *v1alpha.WorkloadDeployment, replicas int32) *v1alpha.WorkloadDeployment {
	revised := object.DeepCopy()
	revised.Spec.Replicas = new(replicas)
	return revised
}
