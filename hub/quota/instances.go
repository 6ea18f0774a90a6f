// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// wantedIndices are the indices of the Instances that need quota, ascending: those that are assigned to cells. Where an autoscaler in
// a cell may use more than always run there, these are the lowest of the cell, and those that the cell has made.
func wantedIndices(copied *v1alpha.WorkloadDeployment) []int {
	assignment := copied.Spec.Assignment
	if assignment == nil {
		return nil
	}
	var wanted []int
	for i := range assignment.Cells {
		indices := v1alpha.Indices(assignment.Cells[i].Indices)
		least := len(indices)
		if own := assignment.Cells[i].MinReplicas; own != nil {
			least = min(least, int(*own))
		}
		wanted = append(wanted, indices[:least]...)
		for _, index := range indices[least:] {
			if isReported(copied, index) {
				wanted = append(wanted, index)
			}
		}
	}
	slices.Sort(wanted)
	return slices.Compact(wanted)
}

// mayRun says whether a cell may run the Instance at an index that is assigned to none: it reports it, has not given it up yet, or
// has not reported on the newest copy.
func mayRun(copied *v1alpha.WorkloadDeployment, index int) bool {
	if copied.Status.ObservedGeneration != copied.Generation || isReported(copied, index) {
		return true
	}
	if copied.Spec.Assignment == nil {
		return false
	}
	return slices.ContainsFunc(copied.Spec.Assignment.Cells, func(cell v1alpha.CellAssignment) bool {
		return slices.Contains(v1alpha.Indices(cell.Releasing), index)
	})
}

func isReported(copied *v1alpha.WorkloadDeployment, index int) bool {
	name := v1alpha.InstanceName(copied.Name, index)
	return slices.ContainsFunc(copied.Status.Instances, func(i v1alpha.ReportedInstance) bool { return i.Name == name })
}

// isHeld says whether an Instance waits for quota.
func isHeld(reported *v1alpha.ReportedInstance) bool {
	return slices.ContainsFunc(reported.SchedulingGates, func(gate v1alpha.SchedulingGate) bool { return gate.Name == v1alpha.GateQuota })
}
