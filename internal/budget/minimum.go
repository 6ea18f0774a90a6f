// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Minimum is how many of the desired Instances voluntary disruptions leave Available. Percentages are rounded up, as a
// PodDisruptionBudget rounds them. It is at most desired: a larger minAvailable allows no voluntary disruption, as it
// does there, and surplus Instances of a smaller scale can still be deleted.
func Minimum(disruption *v1alpha.WorkloadDisruption, desired int32) int32 {
	value := func(setting *intstr.IntOrString) int32 {
		// Admission refuses a value that is neither a number nor a percentage.
		scaled, _ := intstr.GetScaledValueFromIntOrPercent(setting, int(desired), true)
		return int32(max(0, min(scaled, int(desired)))) //nolint:gosec // within 0 and desired
	}
	switch {
	case disruption == nil:
		return 0
	case disruption.MinAvailable != nil:
		return value(disruption.MinAvailable)
	case disruption.MaxUnavailable != nil:
		return desired - value(disruption.MaxUnavailable)
	}
	return 0
}
