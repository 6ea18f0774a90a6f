// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// divideFloor divides the city's floor among the cells of the assignment of desired. The state of the division is in
// the assignment itself, so that one write, which needs the version of existing, stores it and gives the cells their
// floors.
func (s *scope) divideFloor(existing, desired *v1alpha.WorkloadDeployment) {
	if desired.Spec.Floor = s.cityFloor(existing); desired.Spec.Floor == nil {
		return
	}
	assignment := desired.Spec.Assignment
	if existing.Spec.Assignment != nil {
		assignment.FloorSequence = existing.Spec.Assignment.FloorSequence
	}
	rollout := s.deployment.Spec.Rollout
	copied := cells.Budgeted{Copy: existing, Cells: s.allCells, Now: s.Clock.Now(), Paused: rollout != nil && rollout.Paused}
	members, after := copied.Members(assignment)
	if after > 0 {
		s.requeueAfter.AtMost(after)
	}
	divided := budget.Divide(budget.Division{
		Minimum: desired.Spec.Floor.MinAvailable, Sequence: assignment.FloorSequence, Step: budget.Step(), Members: members,
	})
	assignment.FloorSequence = divided.Sequence
	for i := range assignment.Cells {
		assignment.Cells[i].Floor = &divided.Floors[i]
	}
}

// cityFloor returns the floor that the cells divide: never one that is older than the copy's.
func (s *scope) cityFloor(existing *v1alpha.WorkloadDeployment) *v1alpha.AvailabilityFloor {
	wanted := s.deployment.Spec.Floor.DeepCopy()
	if wanted == nil {
		// Without a budget there is no sequence: the generation says which is newer.
		if generation, known := s.generationOf(existing); known && generation > s.deployment.Generation {
			return existing.Spec.Floor.DeepCopy()
		}
		return nil
	}
	return budget.Newest(existing.Spec.Floor, wanted).DeepCopy()
}

// sameReport reports whether a cell reports the same Instances and floor as before. How many of them are Ready does not
// count.
func sameReport(before, after *path.Report) bool {
	a, b := before.Facts(), after.Facts()
	return before.SameGenerations(after) && a.Existing == b.Existing &&
		a.FloorSequence == b.FloorSequence && a.Available == b.Available && a.AwaitingDisruption == b.AwaitingDisruption
}
