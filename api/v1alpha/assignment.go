// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"
	"strings"
)

// InstanceIndices are the indices of the desired Instances in the cell that has this deployment, ascending.
func (d *WorkloadDeployment) InstanceIndices() []int {
	least, most := d.ReplicaBounds()
	desired := least
	if d.Spec.Replicas != nil {
		desired = max(least, min(most, int(*d.Spec.Replicas)))
	}
	if d.Spec.Assignment == nil {
		indices := make([]int, desired)
		for i := range indices {
			indices[i] = i
		}
		return indices
	}
	return d.Spec.Assignment.Indices(d.Cell())[:desired]
}

// ReplicaBounds are how many Instances run in the cell that has this deployment, at least and at most. They differ only where
// an autoscaler decides (Autoscaled).
func (d *WorkloadDeployment) ReplicaBounds() (least, most int) {
	least = int(d.Spec.ScaleSettings.MinReplicas)
	most = least
	if d.Spec.Autoscaled() {
		most = int(*d.Spec.ScaleSettings.MaxReplicas)
	}
	if d.Spec.Assignment == nil {
		return least, most
	}
	cell := d.Cell()
	most = min(most, len(d.Spec.Assignment.Indices(cell)))
	for i := range d.Spec.Assignment.Cells {
		if own := &d.Spec.Assignment.Cells[i]; own.Name == cell && own.MinReplicas != nil {
			least = int(*own.MinReplicas)
		}
	}
	return min(least, most), most
}

// Cell is the name of the cell that has this deployment, from Karmada's annotation. It is "" for a deployment that Karmada did
// not create.
func (d *WorkloadDeployment) Cell() string {
	cell, found := strings.CutPrefix(d.Annotations[AnnotationWorkNamespace], executionSpacePrefix)
	if !found {
		return ""
	}
	return cell
}

// Indices are the indices that a cell may use, ascending.
func (a *WorkloadDeploymentAssignment) Indices(cell string) []int {
	for i := range a.Cells {
		if a.Cells[i].Name == cell {
			return indicesOf(a.Cells[i].Indices)
		}
	}
	return nil
}

// Releasing are the indices that a cell may no longer use but has not released yet, ascending.
func (a *WorkloadDeploymentAssignment) Releasing(cell string) []int {
	for i := range a.Cells {
		if a.Cells[i].Name == cell {
			return indicesOf(a.Cells[i].Releasing)
		}
	}
	return nil
}

// Owner is the cell that an index is assigned to, or "" when there is none.
func (a *WorkloadDeploymentAssignment) Owner(index int) string {
	for i := range a.Cells {
		for _, r := range a.Cells[i].Indices {
			if index >= int(r.First) && index <= int(r.Last) {
				return a.Cells[i].Name
			}
		}
	}
	return ""
}

// Names says whether the assignment has an entry for a cell.
func (a *WorkloadDeploymentAssignment) Names(cell string) bool {
	return slices.ContainsFunc(a.Cells, func(c CellAssignment) bool { return c.Name == cell })
}

func indicesOf(ranges []IndexRange) []int {
	var indices []int
	for _, r := range ranges {
		for index := r.First; index <= r.Last; index++ {
			indices = append(indices, int(index))
		}
	}
	slices.Sort(indices)
	return slices.Compact(indices)
}

// IndexRanges are indices, in any order, as ranges.
func IndexRanges(indices []int) []IndexRange {
	var result []IndexRange
	for _, index := range slices.Compact(slices.Sorted(slices.Values(indices))) {
		i := int32(index) //nolint:gosec // an index is at most a few thousand
		if last := len(result) - 1; last >= 0 && result[last].Last == i-1 {
			result[last].Last = i
		} else {
			result = append(result, IndexRange{First: i, Last: i})
		}
	}
	return result
}
