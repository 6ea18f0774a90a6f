// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Facts are the facts about one Instance that CellIndices report.
type Facts struct {
	// Cell that reports it.
	Cell string
	// Ready reports that the Instance is Ready, Available that it has been Ready for minReadySeconds, and Held that it
	// waits for quota.
	Ready, Available, Held bool
	// TemplateHash is the hash of the template that the Instance was created from; "" if that is an earlier template than
	// the deployment's.
	TemplateHash string
}

// FactsOf returns the facts about all Instances of a deployment that cells report, by index. A cell's report of an
// index counts only if the deployment may have the index and the index is not assigned to another cell.
func FactsOf(d *v1alpha.WorkloadDeployment) map[int]Facts {
	facts := map[int]Facts{}
	own := ownershipOf(d)
	for i := range d.Status.Indices {
		indices := &d.Status.Indices[i]
		available := naming.ParseSet(indices.AvailableIndices)
		existing, ready, held, current := naming.ParseSet(indices.Existing), naming.ParseSet(indices.Ready), naming.ParseSet(indices.Held),
			naming.ParseSet(indices.Current)
		for _, index := range existing.Indices() {
			if _, seen := facts[index]; seen || !own.counts(indices.Cell, index) {
				continue
			}
			fact := Facts{Cell: indices.Cell, Ready: ready.Has(index), Available: available.Has(index), Held: held.Has(index)}
			if current.Has(index) {
				fact.TemplateHash = indices.TemplateHash
			}
			facts[index] = fact
		}
	}
	return facts
}

// Highest is the highest index that cells report of a deployment, whoever it is assigned to; -1: none.
func Highest(d *v1alpha.WorkloadDeployment) int {
	highest := -1
	for i := range d.Status.Indices {
		// The text is ascending.
		existing := d.Status.Indices[i].Existing
		for _, index := range naming.Parse(existing[strings.LastIndexByte(existing, ',')+1:]) {
			highest = max(highest, index)
		}
	}
	return highest
}

// ownership answers for many indices of a deployment whose reports on them count.
type ownership struct {
	// cells are the cells of the assignment, and assigned the indices of each.
	cells    []string
	assigned []*naming.Set
	// highest is the highest index that the deployment may have.
	highest int
}

// ownershipOf returns the ownership of a deployment's indices. Without an assignment, the reports of every cell count.
func ownershipOf(d *v1alpha.WorkloadDeployment) *ownership {
	own := &ownership{highest: naming.MaxIndex}
	if d.Spec.Assignment == nil {
		return own
	}
	// A slice stays until no cell reports an Instance of it, so an Instance that is no longer assigned is in one of the
	// slices, or in the status itself.
	own.highest = naming.InlineInstances - 1
	if d.Spec.Slices > 0 {
		own.highest = int(naming.SliceRange(int(d.Spec.Slices) - 1).Last)
	}
	for i := range d.Spec.Assignment.Cells {
		cell := &d.Spec.Assignment.Cells[i]
		own.cells, own.assigned = append(own.cells, cell.Name), append(own.assigned, naming.SetOf(cell.Indices))
		for _, ranges := range [][]v1alpha.IndexRange{cell.Indices, cell.Releasing} {
			for _, r := range ranges {
				own.highest = max(own.highest, int(r.Last))
			}
		}
	}
	own.highest = min(own.highest, naming.MaxIndex)
	return own
}

// counts reports whether a cell's report of the Instance at an index counts: the deployment may have the index, and it
// is not assigned to another cell. The cell is "" if it is not known.
func (o *ownership) counts(cell string, index int) bool { return o.refusal(cell, index) == "" }

// refusal is the reason why a cell's report does not count, or "".
func (o *ownership) refusal(cell string, index int) IgnoredCause {
	if index < 0 || index > o.highest {
		return IgnoredIndex
	}
	for i := range o.cells {
		if cell != "" && o.assigned[i].Has(index) {
			// Of two cells with an index it is the first.
			if o.cells[i] != cell {
				return IgnoredOwner
			}
			break
		}
	}
	return ""
}
