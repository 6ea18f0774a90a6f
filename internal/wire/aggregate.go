// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// ReflectedStatus is the status that Karmada copies from a cell to the hub, with the generations that it refers to.
type ReflectedStatus struct {
	v1alpha.WorkloadDeploymentStatus `json:",inline"`

	// Generation of the object in the cell.
	Generation int64 `json:"generation"`
	// ResourceTemplateGeneration is the generation of the object on the hub from which Karmada wrote the object in the
	// cell.
	ResourceTemplateGeneration int64 `json:"resourceTemplateGeneration"`
}

// CellReport is the report of a cell, bounded, and the faults for which fields of it were ignored.
type CellReport struct {
	ReflectedStatus
	Faults Faults
	// Cut says that the report had more than one entry of indices, and lost the others.
	Cut bool
}

// DecodeReport decodes a cell's report, and bounds it. A field of a wrong type costs that field and no other. It returns
// nil for a cell that has not reported.
func DecodeReport(raw []byte) *CellReport {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	status, faults := decode[ReflectedStatus](raw)
	cut := len(status.Indices) > 1
	Bound(&status.WorkloadDeploymentStatus)
	return &CellReport{ReflectedStatus: status, Faults: faults, Cut: cut}
}

// decode decodes what a cell reports. A field of a wrong type costs that field and no other.
func decode[T any](raw []byte) (status T, faults Faults) {
	// The search for faults costs several times as much, and an agent makes none. Go would take an entry that is null for
	// an empty one.
	if utiljson.Unmarshal(raw, &status) != nil || hasLongNumber(raw) || bytes.Contains(raw, []byte("null")) {
		return Report[T](raw, ReportLists)
	}
	return status, nil
}

// hasLongNumber reports whether there may be an integer that is not exact in Lua: 2^53 has 16 digits.
func hasLongNumber(raw []byte) bool {
	digits := 0
	for _, c := range raw {
		if digits++; c < '0' || c > '9' {
			digits = 0
		}
		if digits == 16 {
			return true
		}
	}
	return false
}

// CellStatus is the report of one cell that Karmada has the object in.
type CellStatus struct {
	Cell string
	// Report is nil if the cell has not reported.
	Report *CellReport
}

// AggregateStatus is the status of the object on the hub, from the reports of its cells. While no cell has reported,
// the status stays unchanged: Karmada reports no status of an object that it cannot apply, and the Instances keep
// running. A field of a report that has a wrong type or range is ignored, here or by InterpretStatus, and condition
// ReportValid names it and its cell; now is the time of a new one.
//
// If the deployment assigns Instances to cells, only the reports of these cells count. If it wants no Instance, all
// reports count: no cell is assigned one. The reader decides which Instances of a report count, with
// Instances.
func AggregateStatus(
	onHub *v1alpha.WorkloadDeployment, items []CellStatus, now metav1.Time,
) *v1alpha.WorkloadDeploymentStatus {
	assignment := onHub.Spec.Assignment
	if onHub.Spec.ScaleSettings.Zero() {
		assignment = nil
	}
	if assignment != nil {
		items = assignedItems(assignment, items)
	}
	reports := reportedBy(items)
	if len(items) > 0 && len(reports) == 0 {
		return onHub.Status.DeepCopy()
	}
	result := &v1alpha.WorkloadDeploymentStatus{ObservedGeneration: observedGeneration(onHub, len(items), reports)}
	for i := range reports {
		result.ReplicaCounts = result.Add(boundCounts(reports[i].Report.ReplicaCounts, mostInstances(assignment, reports[i].Cell)))
		mergeConditions(result, reports[i], len(reports) > 1)
	}
	result.Reports, result.Indices = mergeReports(reports)
	if invalid := reportValid(onHub, reports, now); invalid != nil {
		result.Conditions = append(result.Conditions, *invalid)
	}
	for i := range result.Conditions {
		result.Conditions[i].ObservedGeneration = result.ObservedGeneration
	}
	slices.SortFunc(result.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	return result
}

// mostInstances is how many Instances a cell may have or has to release. Without an assignment one cell has all
// indices.
func mostInstances(assignment *v1alpha.WorkloadDeploymentAssignment, cell string) int32 {
	if assignment == nil {
		return MaxIndex + 1
	}
	count := int32(0)
	for i := range assignment.Cells {
		if assignment.Cells[i].Name != cell {
			continue
		}
		for _, r := range append(slices.Clone(assignment.Cells[i].Indices), assignment.Cells[i].Releasing...) {
			count = min(count+max(min(r.Last, MaxIndex)-max(r.First, 0)+1, 0), MaxIndex+1)
		}
	}
	return count
}

// assignedItems are the items of the cells of an assignment. A cell that Karmada has no item for has not reported.
func assignedItems(
	assignment *v1alpha.WorkloadDeploymentAssignment, items []CellStatus,
) []CellStatus {
	var assigned []CellStatus
	reported := map[string]bool{}
	for i := range items {
		if assignment.Names(items[i].Cell) {
			reported[items[i].Cell] = true
			assigned = append(assigned, items[i])
		}
	}
	for i := range assignment.Cells {
		// A cell that only has indices to release has no report once Karmada has removed the deployment there.
		if name := assignment.Cells[i].Name; !reported[name] && len(assignment.Cells[i].Indices) > 0 {
			reported[name] = true
			assigned = append(assigned, CellStatus{Cell: name})
		}
	}
	return assigned
}

// observedGeneration is the highest generation of the object on the hub that every cell has observed. For a cell that
// has not reported, that has not yet observed its own object, or that reports a generation which the object does not
// have, it is the previous one.
func observedGeneration(onHub *v1alpha.WorkloadDeployment, cells int, reports []CellStatus) int64 {
	known := onHub.Status.ObservedGeneration
	if cells == 0 {
		return known
	}
	lowest := onHub.Generation
	if len(reports) < cells {
		lowest = min(lowest, known)
	}
	for i := range reports {
		observed := reports[i].Report.ResourceTemplateGeneration
		if observed < 1 || observed > onHub.Generation || reports[i].Report.ObservedGeneration != reports[i].Report.Generation {
			observed = known
		}
		lowest = min(lowest, observed)
	}
	return lowest
}

// mergeReports are the reports of all cells, each with the name of its cell.
func mergeReports(reports []CellStatus) (entries []v1alpha.InstanceReport, indices []v1alpha.CellIndices) {
	for i := range reports {
		for _, report := range reports[i].Report.Reports {
			report.Cell = reports[i].Cell
			entries = append(entries, report)
		}
		for _, cellIndices := range reports[i].Report.Indices {
			cellIndices.Cell = reports[i].Cell
			indices = append(indices, cellIndices)
		}
	}
	return entries, indices
}

// reportedBy are the items with a report, by the names of their cells.
func reportedBy(items []CellStatus) []CellStatus {
	reports := slices.DeleteFunc(slices.Clone(items), func(item CellStatus) bool { return item.Report == nil })
	slices.SortStableFunc(reports, func(a, b CellStatus) int { return strings.Compare(a.Cell, b.Cell) })
	return reports
}

// reportValid is the condition about the first report with faults; nil: no report has faults. It keeps its time while a
// report has any.
func reportValid(onHub *v1alpha.WorkloadDeployment, reports []CellStatus, now metav1.Time) *metav1.Condition {
	first := slices.IndexFunc(reports, func(r CellStatus) bool { return r.ignored() != "" })
	if first < 0 {
		return nil
	}
	since := now.Rfc3339Copy()
	before := meta.FindStatusCondition(onHub.Status.Conditions, v1alpha.ConditionReportValid)
	if before != nil && !before.LastTransitionTime.IsZero() {
		since = before.LastTransitionTime
	}
	return InvalidReport(fmt.Sprintf("cell %s: %s", reports[first].Cell, reports[first].ignored()), since)
}

// ignored is the message about the faults of a report, or about the faults that the cell itself has found; "": no
// faults.
func (r *CellStatus) ignored() string {
	if message := r.Report.Faults.Ignored(); message != "" {
		return message
	}
	stated := meta.FindStatusCondition(r.Report.Conditions, v1alpha.ConditionReportValid)
	if stated != nil && stated.Status == metav1.ConditionFalse {
		return stated.Message
	}
	return ""
}

// Ignored is the message about the faults of a report; "" without any.
func (f Faults) Ignored() string {
	if len(f) == 0 {
		return ""
	}
	return fmt.Sprintf("fields of its report have a wrong type or range and are ignored: %s", f)
}

// InvalidReport is the condition about fields of a report that are ignored.
func InvalidReport(message string, since metav1.Time) *metav1.Condition {
	return &metav1.Condition{
		Type: v1alpha.ConditionReportValid, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonReportFieldsIgnored,
		LastTransitionTime: since, Message: message,
	}
}

// mergeConditions replaces conditions of result that are better than the report's. With several cells, the messages
// name the cell.
func mergeConditions(result *v1alpha.WorkloadDeploymentStatus, from CellStatus, several bool) {
	for _, condition := range from.Report.Conditions {
		if condition.Type == v1alpha.ConditionReportValid {
			// The hub has one condition about all reports.
			continue
		}
		if several {
			condition.Message = strings.TrimSuffix(fmt.Sprintf("cell %s: %s", from.Cell, condition.Message), ": ")
		}
		index := slices.IndexFunc(result.Conditions, func(c metav1.Condition) bool { return c.Type == condition.Type })
		switch {
		case index < 0:
			result.Conditions = append(result.Conditions, condition)
		case isWorse(condition, result.Conditions[index]):
			result.Conditions[index] = condition
		}
	}
}

// isWorse reports whether a condition is worse than another one of its type. Of two that are as bad, the one with the more urgent
// cause is: else a cell whose Instances start would hide the cause of another cell.
func isWorse(condition, other metav1.Condition) bool {
	if bad, known := badness(condition), badness(other); bad != known {
		return bad > known
	}
	return badness(condition) > 0 && urgency(condition.Reason) < urgency(other.Reason)
}

// causes are the reasons that name a cause, the most urgent one first.
var causes = reasons.Causes()

func urgency(reason string) int {
	if at := slices.Index(causes, reason); at >= 0 {
		return at
	}
	return len(causes)
}

// badness orders conditions of one type, the worst highest: Progressing is bad when it is True, all others when they
// are False.
func badness(condition metav1.Condition) int {
	bad := metav1.ConditionFalse
	if condition.Type == v1alpha.ConditionProgressing {
		bad = metav1.ConditionTrue
	}
	if condition.Status == bad {
		return 2
	}
	if condition.Status == metav1.ConditionUnknown {
		return 1
	}
	return 0
}
