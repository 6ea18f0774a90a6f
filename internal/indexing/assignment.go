// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package indexing

import (
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Desired are the indices of the desired Instances in the cell that has this deployment, ascending.
func Desired(d *v1alpha.WorkloadDeployment) []int {
	least, most := ReplicaBounds(d)
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
	return Assigned(d.Spec.Assignment, d.Cell())[:desired]
}

// ReplicaBounds are how many Instances run in the cell that has this deployment, at least and at most. They differ only where
// an autoscaler decides (Autoscaled).
func ReplicaBounds(d *v1alpha.WorkloadDeployment) (least, most int) {
	least = int(d.Spec.ScaleSettings.MinReplicas)
	most = least
	if d.Spec.Autoscaled() {
		most = int(*d.Spec.ScaleSettings.MaxReplicas)
	}
	if d.Spec.Assignment == nil {
		return least, most
	}
	cell := d.Cell()
	most = min(most, len(Assigned(d.Spec.Assignment, cell)))
	for i := range d.Spec.Assignment.Cells {
		if own := &d.Spec.Assignment.Cells[i]; own.Name == cell && own.MinReplicas != nil {
			least = int(*own.MinReplicas)
		}
	}
	return min(least, most), most
}

// Assigned are the indices that a cell may use, ascending.
func Assigned(a *v1alpha.WorkloadDeploymentAssignment, cell string) []int {
	for i := range a.Cells {
		if a.Cells[i].Name == cell {
			return OfRanges(a.Cells[i].Indices)
		}
	}
	return nil
}

// Releasing are the indices that a cell may no longer use but has not released yet, ascending.
func Releasing(a *v1alpha.WorkloadDeploymentAssignment, cell string) []int {
	for i := range a.Cells {
		if a.Cells[i].Name == cell {
			return OfRanges(a.Cells[i].Releasing)
		}
	}
	return nil
}

// OfRanges are the indices in ranges, ascending.
func OfRanges(ranges []v1alpha.IndexRange) []int { return SetOf(ranges).Indices() }

// SetOf is the set of the indices in ranges.
func SetOf(ranges []v1alpha.IndexRange) *Set {
	set := &Set{}
	for _, r := range ranges {
		set.Add(int(r.First), int(r.Last))
	}
	return set
}

// Ranges are indices, in any order, as ranges.
func Ranges(indices []int) []v1alpha.IndexRange {
	var result []v1alpha.IndexRange
	for _, index := range slices.Compact(slices.Sorted(slices.Values(indices))) {
		i := int32(index) //nolint:gosec // an index is at most a few thousand
		if last := len(result) - 1; last >= 0 && result[last].Last == i-1 {
			result[last].Last = i
		} else {
			result = append(result, v1alpha.IndexRange{First: i, Last: i})
		}
	}
	return result
}

// InRanges reports whether an index is in one of the ranges.
func InRanges(ranges []v1alpha.IndexRange, index int) bool {
	for _, r := range ranges {
		if index >= int(r.First) && index <= int(r.Last) {
			return true
		}
	}
	return false
}
