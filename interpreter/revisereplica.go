// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// ReviseReplica is a deployment that runs so many Instances in one cell. Karmada asks for it whenever InterpretReplica is
// answered, also when every cell gets all replicas. The cell holds the number between minReplicas and maxReplicas: a
// share of a deployment that is below minReplicas is none that a cell runs.
func ReviseReplica(object *v1alpha.WorkloadDeployment, replicas int32) *v1alpha.WorkloadDeployment {
	revised := object.DeepCopy()
	revised.Spec.Replicas = new(replicas)
	return revised
}
