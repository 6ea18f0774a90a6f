// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Known is what the hub knows of a copy in one cell. A cell without a report is silent: Karmada makes its Work again, the
// Work carries an earlier copy, or the cell has never reported. Silence proves nothing. Whoever stops, frees or hides
// something because a report lacks it asks Known.
type Known struct {
	copied *v1alpha.WorkloadDeployment
	report *Report
}

// Known returns what the reports tell of a cell.
func (r *Reports) Known(cell string) Known { return Known{copied: r.copied, report: r.Of(cell)} }

// Known returns what the report of a cell tells.
func (w *Row) Known(cell string) Known { return Known{copied: w.Copied, report: w.Report(cell)} }

// Silent reports whether the cell has no report on the copy.
func (k Known) Silent() bool { return k.report == nil }

// Stopped reports whether the Instance at an index is proved not to run in the cell: the cell has acted on the newest copy
// and has no such Instance. A report without indices is no proof.
func (k Known) Stopped(index int) bool {
	return !k.Silent() && len(k.report.Indices) > 0 && k.report.actsOn(k.copied) && !naming.Contains(k.report.Indices[0].Existing, index)
}

// reportPatience is how long a cell that is reached again may need to report what has changed. Its API server may answer
// before its control plane has found out that its nodes have stopped.
const reportPatience = time.Minute

// Stale returns how long the report does not count as evidence that Instances run, if it is from before an outage of its
// cell, which is reached again since a time; 0: it counts.
func (k Known) Stale(reached, now time.Time) time.Duration {
	if k.Silent() || !k.report.At.Before(reached) {
		return 0
	}
	return max(0, reached.Add(reportPatience).Sub(now))
}

// reportedAt returns when the hub has stored the status of a Work; zero: the Work does not tell.
func reportedAt(work *workv1alpha1.Work) (at time.Time) {
	for i := range work.ManagedFields {
		if entry := &work.ManagedFields[i]; entry.Subresource == "status" && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

// IsSilent reports whether a cell that the copy assigns Instances to has no report.
func (r *Reports) IsSilent() bool {
	if r.copied.Spec.Assignment == nil {
		return len(r.works) == 0
	}
	for i := range r.copied.Spec.Assignment.Cells {
		if cell := &r.copied.Spec.Assignment.Cells[i]; len(cell.Indices) > 0 && r.Known(cell.Name).Silent() {
			return true
		}
	}
	return false
}
