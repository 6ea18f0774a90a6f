// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
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

// floorsReported drops updates of copies that do not change the cells' reports of their floors.
func floorsReported() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isCopy := e.ObjectOld.(*v1alpha.WorkloadDeployment)
		after, stillIs := e.ObjectNew.(*v1alpha.WorkloadDeployment)
		if !isCopy || !stillIs || after.Spec.Floor == nil {
			return false
		}
		if len(before.Status.Indices) != len(after.Status.Indices) {
			return true
		}
		for i := range after.Status.Indices {
			old, now := &before.Status.Indices[i], &after.Status.Indices[i]
			if old.Cell != now.Cell || old.FloorSequence != now.FloorSequence || old.Available != now.Available ||
				old.AwaitingDisruption != now.AwaitingDisruption {
				return true
			}
		}
		return false
	}}
}
