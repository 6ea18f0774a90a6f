// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// addFloor adds to status the floor that the cells guarantee together. It is of the same version of the copy as the
// counts: a count never includes Instances that were disrupted before the floor was in force.
func (s *facts) addFloor(status *v1alpha.WorkloadDeploymentStatus) {
	if s.copied.Spec.Floor == nil {
		return
	}
	copied := cells.Budgeted{Copy: s.copied, Cells: s.row.Cells, Now: s.now}
	members, _ := copied.Members(s.copied.Spec.Assignment)
	status.FloorSequence, status.FloorInForce = s.copied.Spec.Floor.Sequence, budget.InForce(members)
	for i := range members {
		if !members[i].Lost {
			status.FloorAvailable += members[i].Available
		}
		status.AwaitingDisruption += max(0, min(members[i].Awaiting, members[i].Available))
	}
}

// floorChanged reports whether statuses differ in the fields by which hub/deployments divides the budget.
func floorChanged(before, after *v1alpha.WorkloadDeploymentStatus) bool {
	return before.FloorSequence != after.FloorSequence || before.FloorInForce != after.FloorInForce ||
		before.FloorAvailable != after.FloorAvailable || before.AwaitingDisruption != after.AwaitingDisruption
}
