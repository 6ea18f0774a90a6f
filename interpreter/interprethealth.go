// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// InterpretHealth reports whether all desired Instances of a deployment are Ready in its cell.
func InterpretHealth(observed *v1alpha.WorkloadDeployment) bool {
	status := &observed.Status
	return status.ObservedGeneration == observed.Generation &&
		status.DesiredReplicas > 0 && status.ReadyReplicas >= status.DesiredReplicas &&
		meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionAvailable)
}
