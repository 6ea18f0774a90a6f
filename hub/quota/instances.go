// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"
	"sync"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cellreport"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
)

// wantedIndices returns the indices of the Instances that need quota, ascending: the indices that are assigned to
// cells. In a cell with an autoscaler they are the lowest indices of the cell, as many as always run, and the indices
// of Instances that the cell has created.
func wantedIndices(copied *v1alpha.WorkloadDeployment) []int {
	assignment := copied.Spec.Assignment
	if assignment == nil {
		return nil
	}
	reported := sync.OnceValue(func() map[int]cellreport.Facts { return cellreport.FactsOf(copied) })
	var wanted []int
	for i := range assignment.Cells {
		indices := indexing.OfRanges(assignment.Cells[i].Indices)
		least := len(indices)
		if own := assignment.Cells[i].MinReplicas; own != nil {
			least = min(least, int(*own))
		}
		wanted = append(wanted, indices[:least]...)
		for _, index := range indices[least:] {
			if _, made := reported()[index]; made {
				wanted = append(wanted, index)
			}
		}
	}
	slices.Sort(wanted)
	return slices.Compact(wanted)
}

// mayRun reports whether a cell may run the Instance at an index that is assigned to no cell: the cell reports it, has
// not released it yet, or has not reported on the newest copy.
func mayRun(copied *v1alpha.WorkloadDeployment, reported map[int]cellreport.Facts, index int) bool {
	if _, made := reported[index]; made || copied.Status.ObservedGeneration != copied.Generation {
		return true
	}
	if copied.Spec.Assignment == nil {
		return false
	}
	return slices.ContainsFunc(copied.Spec.Assignment.Cells, func(cell v1alpha.CellAssignment) bool {
		return slices.Contains(indexing.OfRanges(cell.Releasing), index)
	})
}
