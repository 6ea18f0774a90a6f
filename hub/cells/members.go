// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// lostAfter is how long a cell may be unreached before its Instances count as down. An early judgement costs
// disruptions elsewhere, but never Instances.
const lostAfter = time.Minute

// Budgeted is the copy of a deployment on the hub whose cells are the members of its disruption budget.
type Budgeted struct {
	// Copy has the reports of the cells, and their floors.
	Copy *v1alpha.WorkloadDeployment
	// Cells are the cells of every city.
	Cells Cells
	// Now is when the cells are judged.
	Now time.Time
	// Paused says that the rollout of the deployment waits for a user: it does not keep the tokens that its cells have.
	Paused bool
}

// Members returns the cells of an assignment, in its order. after is when a cell that does not respond will be lost; 0:
// no such cell.
func (b *Budgeted) Members(assignment *v1alpha.WorkloadDeploymentAssignment) (members []budget.Member, after time.Duration) {
	if assignment == nil {
		return nil, 0
	}
	for i := range assignment.Cells {
		member, wait := b.member(&assignment.Cells[i])
		members = append(members, member)
		if wait > 0 && (after == 0 || wait < after) {
			after = wait
		}
	}
	return members, after
}

func (b *Budgeted) member(assigned *v1alpha.CellAssignment) (member budget.Member, after time.Duration) {
	member = budget.Member{Floor: b.floor(assigned.Name), InForce: budget.Everything}
	reported := func(indices v1alpha.CellIndices) bool { return indices.Cell == assigned.Name }
	if at := slices.IndexFunc(b.Copy.Status.Indices, reported); at >= 0 {
		report := &b.Copy.Status.Indices[at]
		limit := size(assigned.Indices) + size(assigned.Releasing)
		member.Sequence, member.Available = report.FloorSequence, max(0, min(report.Available, limit))
		member.Awaiting = max(min(report.AwaitingDisruption, limit), member.Available-size(assigned.Indices))
		member.Settled = member.Available >= size(assigned.Indices) && (b.Paused || b.Copy.Spec.Partition == nil && b.Copy.Spec.Surge == 0)
	}
	cell, exists := b.Cells.Find(assigned.Name)
	switch {
	case !exists || cell.Gone || assigned.IsLeaving():
		// Karmada removes the deployment from a cell without a share: no Instance there waits for the budget.
		member.Lost = true
	case !cell.Ready:
		member.Silent = true
		remaining, unreached := b.Cells.UntilLost(&cell, b.Now, lostAfter)
		member.Lost, after = unreached && remaining == 0, remaining
	case cell.Agent.Down:
		member.Silent = true
	}
	return member, after
}

// floor returns the stored floor of a cell; nil without one.
func (b *Budgeted) floor(cell string) *v1alpha.AvailabilityFloor {
	if b.Copy.Spec.Assignment == nil {
		return nil
	}
	for i := range b.Copy.Spec.Assignment.Cells {
		if b.Copy.Spec.Assignment.Cells[i].Name == cell {
			return b.Copy.Spec.Assignment.Cells[i].Floor
		}
	}
	return nil
}

func size(ranges []v1alpha.IndexRange) (count int32) {
	for _, r := range ranges {
		count += max(0, r.Last-r.First+1)
	}
	return count
}
