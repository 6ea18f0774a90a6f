// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/sizing"
)

// InterpretReplica is the number of Instances of a deployment and the resources that each of them takes. The number is the one
// that ReviseReplica sets, so that Karmada reads back what it wrote, else minReplicas. Requirements are nil when the size is
// unknown.
func InterpretReplica(object *v1alpha.WorkloadDeployment) (int32, *workv1alpha2.ReplicaRequirements) {
	replicas := object.Spec.StatedReplicas()
	size := sizing.Instance(&object.Spec.Template.Spec, object.Spec.InstanceTypeResources)
	if len(size) == 0 {
		return replicas, nil
	}
	return replicas, &workv1alpha2.ReplicaRequirements{ResourceRequest: size}
}
