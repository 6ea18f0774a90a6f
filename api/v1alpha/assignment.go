// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// IsLeaving reports whether the cell runs nothing any more and has not released all of its indices.
func (c *CellAssignment) IsLeaving() bool {
	return len(c.Indices) == 0 && len(c.Releasing) > 0 && c.LeavingSince != nil
}

// Leaving is the departure of a deployment from a cell that IsLeaving.
func (d *WorkloadDeployment) Leaving(cell *CellAssignment) LeavingDeployment {
	return LeavingDeployment{Namespace: d.Namespace, Name: d.Name, Since: cell.LeavingSince.UTC().Format(metav1.RFC3339Micro)}
}

// Names says whether the assignment has an entry for a cell.
func (a *WorkloadDeploymentAssignment) Names(cell string) bool {
	return slices.ContainsFunc(a.Cells, func(c CellAssignment) bool { return c.Name == cell })
}

func indicesOf(ranges []IndexRange) []int { return setOfRanges(ranges).indices() }

func setOfRanges(ranges []IndexRange) *indexSet {
	set := &indexSet{}
	for _, r := range ranges {
		set.add(int(r.First), int(r.Last))
	}
	return set
}

// ownership answers for many indices of a deployment whose reports on them count.
type ownership struct {
	// cells are the cells of the assignment, and assigned the indices of each.
	cells    []string
	assigned []*indexSet
	// highest is the highest index that the deployment may have.
	highest int
}

// ownership returns that of the deployment. Without an assignment the reports of every cell count.
func (d *WorkloadDeployment) ownership() *ownership {
	own := &ownership{highest: maxIndex}
	if d.Spec.Assignment == nil {
		return own
	}
	// Slices stay until no cell reports an Instance of theirs, so an Instance that is no longer assigned is in one of them, or among
	// those of the status itself.
	own.highest = InlineInstances - 1
	if d.Spec.Slices > 0 {
		own.highest = int(SliceRange(int(d.Spec.Slices) - 1).Last)
	}
	for i := range d.Spec.Assignment.Cells {
		cell := &d.Spec.Assignment.Cells[i]
		own.cells, own.assigned = append(own.cells, cell.Name), append(own.assigned, setOfRanges(cell.Indices))
		for _, ranges := range [][]IndexRange{cell.Indices, cell.Releasing} {
			for _, r := range ranges {
				own.highest = max(own.highest, int(r.Last))
			}
		}
	}
	own.highest = min(own.highest, maxIndex)
	return own
}

// counts reports whether what a cell reports of the Instance at an index counts: the deployment may have it, and it is not assigned to
// another cell. The cell is "" where it is not known.
func (o *ownership) counts(cell string, index int) bool { return o.refusal(cell, index) == "" }

// refusal is why what a cell reports does not count, or "".
func (o *ownership) refusal(cell string, index int) IgnoredCause {
	if index < 0 || index > o.highest {
		return IgnoredIndex
	}
	for i := range o.cells {
		if cell != "" && o.assigned[i].has(index) {
			// Of two cells with an index it is the first.
			if o.cells[i] != cell {
				return IgnoredOwner
			}
			break
		}
	}
	return ""
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
