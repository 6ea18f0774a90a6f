// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// recall adds to the status what the project shows of cells with Instances of their own, but without a report. Karmada is
// making their Works again, and their Instances run on: they stay as they are shown until the fault on the path has
// lasted. A cell that only has indices to release has no report once Karmada has removed its Work.
func (s *facts) recall(reports *path.Reports) {
	shown, assignment := &s.deployment.Status, s.copied.Spec.Assignment
	if assignment == nil || s.nowhere {
		return
	}
	heard := len(s.copied.Status.Indices) > 0
	s.recalled = map[string]bool{}
	for i := range assignment.Cells {
		cell := assignment.Cells[i].Name
		at := slices.IndexFunc(shown.Indices, func(indices v1alpha.CellIndices) bool { return indices.Cell == cell })
		if at < 0 || len(assignment.Cells[i].Indices) == 0 || !reports.Known(cell).Silent() {
			continue
		}
		s.recalled[cell] = true
		indices := shown.Indices[at]
		// A project shows no more than which Instances are Available. Nothing about a budget is confirmed.
		indices.Ready, indices.FloorSequence, indices.Available, indices.AwaitingDisruption = indices.AvailableIndices, 0, 0, 0
		s.copied.Status.Indices = append(s.copied.Status.Indices, indices)
		if heard {
			s.copied.Status.ReplicaCounts = s.copied.Status.Add(countsOf(&indices))
		}
	}
	if !heard && len(s.recalled) > 0 {
		s.copied.Status.ReplicaCounts = shown.ReplicaCounts
		s.copied.Status.UpdatedReplicas, s.copied.Status.UpdatedAvailableReplicas = 0, 0
		s.copied.Status.Conditions = cellConditions(shown.Conditions)
	}
}

// countsOf are the counts of the Instances that a project shows of a cell.
func countsOf(cellIndices *v1alpha.CellIndices) v1alpha.ReplicaCounts {
	count := func(indices string) int32 { return int32(len(naming.Parse(indices))) } //nolint:gosec // there are at most 1000
	return v1alpha.ReplicaCounts{
		Replicas: count(cellIndices.Existing), DesiredReplicas: count(cellIndices.Existing), CurrentReplicas: count(cellIndices.Current),
		ReadyReplicas: count(cellIndices.AvailableIndices), AvailableReplicas: count(cellIndices.AvailableIndices),
	}
}

// cellConditions are the shown conditions that cells report.
func cellConditions(shown []metav1.Condition) []metav1.Condition {
	return slices.DeleteFunc(withoutForeign(shown), func(c metav1.Condition) bool {
		return c.Type == v1alpha.ConditionStatusCurrent || c.Type == v1alpha.ConditionSuspended
	})
}

// isRecalled reports whether the cell of the Instance at an index has no report: what is shown of it stays.
func (s *facts) isRecalled(index int) bool {
	assignment := s.copied.Spec.Assignment
	return len(s.recalled) > 0 && s.recalled[cmp.Or(assignment.Owner(index), assignment.Releaser(index))]
}
