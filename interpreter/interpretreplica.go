// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/sizing"
)

// InterpretReplica returns the number of Instances of a deployment and the resources of each of them. The number is the value that
// ReviseReplica sets, so that Karmada reads its own value back, else minReplicas. Requirements are nil if the size is unknown.
func InterpretReplica(object *v1alpha.WorkloadDeployment) (int32, *workv1alpha2.ReplicaRequirements) {
	replicas := object.Spec.StatedReplicas()
	size := sizing.Instance(&object.Spec.Template.Spec, object.Spec.InstanceTypeResources)
	if len(size) == 0 {
		return replicas, nil
	}
	return replicas, &workv1alpha2.ReplicaRequirements{ResourceRequest: size}
}
