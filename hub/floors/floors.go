// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package floors represents the cells of a deployment's copy on the hub as members of its disruption budget. It reads
// and writes nothing.
package floors

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// lostAfter is how long a cell may be not Ready before its Instances count as down. An early judgement costs
// disruptions elsewhere, but never Instances.
const lostAfter = time.Minute

// Copy is the copy of a deployment on the hub, with the cells that the hub knows.
type Copy struct {
	// Stored is the copy with its reports and its floors.
	Stored *v1alpha.WorkloadDeployment
	// Cells are the cells of every city.
	Cells cells.Cells
	// Now is when the cells are judged.
	Now time.Time
}

// Members returns the cells of an assignment, in its order. after is when a cell that does not respond will be lost; 0:
// no such cell.
func (c *Copy) Members(of *v1alpha.WorkloadDeploymentAssignment) (members []budget.Member, after time.Duration) {
	if of == nil {
		return nil, 0
	}
	for i := range of.Cells {
		member, wait := c.member(&of.Cells[i])
		members = append(members, member)
		if wait > 0 && (after == 0 || wait < after) {
			after = wait
		}
	}
	return members, after
}

func (c *Copy) member(assigned *v1alpha.CellAssignment) (member budget.Member, after time.Duration) {
	member = budget.Member{Floor: c.floor(assigned.Name), InForce: budget.Everything}
	reported := func(of v1alpha.CellIndices) bool { return of.Cell == assigned.Name }
	if at := slices.IndexFunc(c.Stored.Status.Indices, reported); at >= 0 {
		report := &c.Stored.Status.Indices[at]
		most := size(assigned.Indices) + size(assigned.Releasing)
		member.Sequence, member.Available = report.FloorSequence, max(0, min(report.Available, most))
		member.Awaiting = max(report.AwaitingDisruption, member.Available-size(assigned.Indices))
		member.Settled = member.Available >= size(assigned.Indices) && c.Stored.Spec.Partition == nil && c.Stored.Spec.Surge == 0
	}
	cell, exists := c.Cells.Find(assigned.Name)
	switch {
	case !exists || cell.Gone || assigned.IsLeaving():
		// Karmada removes the deployment from a cell without a share: no Instance there waits for the budget.
		member.Lost = true
	case !cell.Ready:
		member.Silent = true
		if after = cell.Since.Add(lostAfter).Sub(c.Now); after <= 0 {
			member.Lost, after = true, 0
		}
	case cell.Agent.Down:
		member.Silent = true
	}
	return member, after
}

// floor returns the stored floor of a cell; nil without one.
func (c *Copy) floor(cell string) *v1alpha.AvailabilityFloor {
	if c.Stored.Spec.Assignment == nil {
		return nil
	}
	for i := range c.Stored.Spec.Assignment.Cells {
		if c.Stored.Spec.Assignment.Cells[i].Name == cell {
			return c.Stored.Spec.Assignment.Cells[i].Floor
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

// Step returns a random step between two sequences: a hub that was restored from a backup does not issue a sequence
// twice.
func Step() int64 {
	const most = 1 << 16
	return 1 + rand.Int64N(most) //nolint:gosec // no secret
}
