// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Needed is how many of the wanted Instances must be Available for condition Available, as for a Deployment: all but
// the ones that a rollout may make unavailable, at least the minimum of the disruption budget, and at least one. Where
// no Instance is wanted, none is needed. rollout and disruption may be nil.
func Needed(wanted int32, rollout *v1alpha.WorkloadRollout, disruption *v1alpha.WorkloadDisruption) int32 {
	if wanted <= 0 {
		return 0
	}
	unavailable := int32(min(rollout.Unavailable(int(wanted)), int(wanted))) //nolint:gosec // at most wanted
	return max(1, wanted-unavailable, Minimum(disruption, wanted))
}
