// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"maps"
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Known has the hub's knowledge of a copy in one cell. A cell without a report is silent: Karmada makes its Work again, the Work carries
// an earlier copy, or the cell has never reported. Silence proves nothing. A controller that stops, frees or hides something because a
// report lacks it asks Known.
type Known struct {
	copied *v1alpha.WorkloadDeployment
	report *Report
	// reported is when the hub has stored it; zero: that is not known.
	reported time.Time
}

// Known returns what is known of a cell by the reports.
func (r *Reports) Known(cell string) Known { return Known{copied: r.copied, report: r.OfCell(cell)} }

// Known returns what the report of a cell tells.
func (w *Row) Known(cell string) Known {
	known := Known{copied: w.Copied, report: w.Report(cell)}
	if !known.Silent() {
		known.reported = reportedAt(w.Works[cell]).Time
	}
	return known
}

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
	if k.Silent() || !k.reported.Before(reached) {
		return 0
	}
	return max(0, reached.Add(reportPatience).Sub(now))
}

// IsSilent reports whether a cell with Instances of the copy is silent. Without an assignment, one cell has them all.
func (r *Reports) IsSilent() bool {
	isSilent := func(cell string) bool { return r.Known(cell).Silent() }
	if r.copied.Spec.Assignment == nil {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(r.works)), func(cell string) bool { return !isSilent(cell) })
	}
	return slices.ContainsFunc(r.copied.Spec.Assignment.Cells, func(cell v1alpha.CellAssignment) bool {
		return len(cell.Indices) > 0 && isSilent(cell.Name)
	})
}
