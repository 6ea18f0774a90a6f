// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// Newest returns the floor that a receiver works with: the present one, unless the other has a higher sequence. A
// sender may be a replica with a stale cache, or a hub that was restored from a backup.
func Newest(present, other *v1alpha.AvailabilityFloor) *v1alpha.AvailabilityFloor {
	if present == nil || other != nil && other.Sequence > present.Sequence {
		return other
	}
	return present
}
