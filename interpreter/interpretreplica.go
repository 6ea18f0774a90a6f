// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// InterpretReplica is how many Instances a deployment declares and what each of them takes. The number is the one that
// ReviseReplica sets, so that Karmada reads back what it wrote; without it, minReplicas run. Requirements are nil when
// nothing is known about the size.
func InterpretReplica(object *v1alpha.WorkloadDeployment) (int32, *workv1alpha2.ReplicaRequirements) {
	replicas := object.Spec.ScaleSettings.MinReplicas
	if object.Spec.Replicas != nil {
		replicas = *object.Spec.Replicas
	}
	size := InstanceSize(&object.Spec.Template.Spec)
	if len(size) == 0 {
		return replicas, nil
	}
	return replicas, &workv1alpha2.ReplicaRequirements{ResourceRequest: size}
}
