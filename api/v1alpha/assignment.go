// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "slices"

// Indices are the indices that a cell may use, ascending.
func (a *WorkloadDeploymentAssignment) Indices(cell string) []int {
	var indices []int
	for i := range a.Cells {
		if a.Cells[i].Name != cell {
			continue
		}
		for _, r := range a.Cells[i].Indices {
			for index := r.First; index <= r.Last; index++ {
				indices = append(indices, int(index))
			}
		}
	}
	slices.Sort(indices)
	return slices.Compact(indices)
}

// Cell is the cell that an index is assigned to, or "" when it is none's.
func (a *WorkloadDeploymentAssignment) Cell(index int) string {
	for i := range a.Cells {
		for _, r := range a.Cells[i].Indices {
			if index >= int(r.First) && index <= int(r.Last) {
				return a.Cells[i].Name
			}
		}
	}
	return ""
}

// Names says whether a cell is among those that run Instances.
func (a *WorkloadDeploymentAssignment) Names(cell string) bool {
	return slices.ContainsFunc(a.Cells, func(c CellAssignment) bool { return c.Name == cell })
}

// NewCellAssignment assigns indices, in any order, to a cell.
func NewCellAssignment(cell string, indices []int) CellAssignment {
	result := CellAssignment{Name: cell}
	for _, index := range slices.Compact(slices.Sorted(slices.Values(indices))) {
		i := int32(index) //nolint:gosec // an index is at most a few thousand
		if last := len(result.Indices) - 1; last >= 0 && result.Indices[last].Last == i-1 {
			result.Indices[last].Last = i
		} else {
			result.Indices = append(result.Indices, IndexRange{First: i, Last: i})
		}
	}
	return result
}
