// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cellreport

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
)

// ownership answers for many indices of a deployment whose reports on them count.
type ownership struct {
	// cells are the cells of the assignment, and assigned the indices of each.
	cells    []string
	assigned []*indexing.Set
	// highest is the highest index that the deployment may have.
	highest int
}

// ownershipOf returns the ownership of a deployment's indices. Without an assignment, the reports of every cell count.
func ownershipOf(d *v1alpha.WorkloadDeployment) *ownership {
	own := &ownership{highest: indexing.MaxIndex}
	if d.Spec.Assignment == nil {
		return own
	}
	// A slice stays until no cell reports an Instance of it, so an Instance that is no longer assigned is in one of the slices, or in
	// the status itself.
	own.highest = indexing.InlineInstances - 1
	if d.Spec.Slices > 0 {
		own.highest = int(indexing.SliceRange(int(d.Spec.Slices) - 1).Last)
	}
	for i := range d.Spec.Assignment.Cells {
		cell := &d.Spec.Assignment.Cells[i]
		own.cells, own.assigned = append(own.cells, cell.Name), append(own.assigned, indexing.SetOf(cell.Indices))
		for _, ranges := range [][]v1alpha.IndexRange{cell.Indices, cell.Releasing} {
			for _, r := range ranges {
				own.highest = max(own.highest, int(r.Last))
			}
		}
	}
	own.highest = min(own.highest, indexing.MaxIndex)
	return own
}

// counts reports whether a cell's report of the Instance at an index counts: the deployment may have the index, and it is not assigned
// to another cell. The cell is "" if it is not known.
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
