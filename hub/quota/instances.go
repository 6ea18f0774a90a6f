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

// wantedIndices are the indices of the Instances that need quota, ascending: those that are assigned to cells. Where an autoscaler in
// a cell may use more than always run there, these are the lowest of the cell, and those that the cell has made.
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

// mayRun says whether a cell may run the Instance at an index that is assigned to none: it reports it, has not given it up yet, or
// has not reported on the newest copy.
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
