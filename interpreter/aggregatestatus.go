// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"fmt"
	"slices"
	"strings"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// report is the status that one cell reports.
type report struct {
	cell   string
	status ReflectedStatus
	faults wire.Faults
}

// AggregateStatus is the status of the object on the hub, from the reports of its cells. While no cell has reported,
// the status stays unchanged: Karmada reports no status of an object that it cannot apply, and the Instances keep
// running. A field of a report that has a wrong type or range is ignored, here or by InterpretStatus, and condition
// ReportValid names it and its cell; now is the time of a new one.
//
// If the deployment assigns Instances to cells, only the reports of these cells count. If it wants no Instance, all
// reports count: no cell is assigned one. The reader decides which Instances of a report count, with
// cellreport.Instances.
func AggregateStatus(
	onHub *v1alpha.WorkloadDeployment, items []workv1alpha2.AggregatedStatusItem, now metav1.Time,
) *v1alpha.WorkloadDeploymentStatus {
	assignment := onHub.Spec.Assignment
	if onHub.Spec.ScaleSettings.Zero() {
		assignment = nil
	}
	if assignment != nil {
		items = assignedItems(assignment, items)
	}
	reports := decodeReports(items)
	if len(items) > 0 && len(reports) == 0 {
		return onHub.Status.DeepCopy()
	}
	result := &v1alpha.WorkloadDeploymentStatus{ObservedGeneration: observedGeneration(onHub, len(items), reports)}
	for i := range reports {
		result.ReplicaCounts = result.Add(boundCounts(reports[i].status.ReplicaCounts, mostInstances(assignment, reports[i].cell)))
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
	most := int32(0)
	for i := range assignment.Cells {
		if assignment.Cells[i].Name != cell {
			continue
		}
		for _, r := range append(slices.Clone(assignment.Cells[i].Indices), assignment.Cells[i].Releasing...) {
			most = min(most+max(min(r.Last, MaxIndex)-max(r.First, 0)+1, 0), MaxIndex+1)
		}
	}
	return most
}

// assignedItems are the items of the cells of an assignment. A cell that Karmada has no item for has not reported.
func assignedItems(
	assignment *v1alpha.WorkloadDeploymentAssignment, items []workv1alpha2.AggregatedStatusItem,
) []workv1alpha2.AggregatedStatusItem {
	var assigned []workv1alpha2.AggregatedStatusItem
	reported := map[string]bool{}
	for i := range items {
		if assignment.Names(items[i].ClusterName) {
			reported[items[i].ClusterName] = true
			assigned = append(assigned, items[i])
		}
	}
	for i := range assignment.Cells {
		// A cell that only has indices to release has no report once Karmada has removed the deployment there.
		if name := assignment.Cells[i].Name; !reported[name] && len(assignment.Cells[i].Indices) > 0 {
			reported[name] = true
			assigned = append(assigned, workv1alpha2.AggregatedStatusItem{ClusterName: name})
		}
	}
	return assigned
}

// observedGeneration is the highest generation of the object on the hub that every cell has observed. For a cell that
// has not reported, that has not yet observed its own object, or that reports a generation which the object does not
// have, it is the previous one.
func observedGeneration(onHub *v1alpha.WorkloadDeployment, cells int, reports []report) int64 {
	known := onHub.Status.ObservedGeneration
	if cells == 0 {
		return known
	}
	lowest := onHub.Generation
	if len(reports) < cells {
		lowest = min(lowest, known)
	}
	for i := range reports {
		observed := reports[i].status.ResourceTemplateGeneration
		if observed < 1 || observed > onHub.Generation || reports[i].status.ObservedGeneration != reports[i].status.Generation {
			observed = known
		}
		lowest = min(lowest, observed)
	}
	return lowest
}

// mergeReports are the reports of all cells, each with the name of its cell.
func mergeReports(reports []report) (entries []v1alpha.InstanceReport, indices []v1alpha.CellIndices) {
	for i := range reports {
		for _, of := range reports[i].status.Reports {
			of.Cell = reports[i].cell
			entries = append(entries, of)
		}
		for _, of := range reports[i].status.Indices {
			of.Cell = reports[i].cell
			indices = append(indices, of)
		}
	}
	return entries, indices
}

func decodeReports(items []workv1alpha2.AggregatedStatusItem) []report {
	var reports []report
	for i := range items {
		if items[i].Status == nil || len(items[i].Status.Raw) == 0 || string(items[i].Status.Raw) == "null" {
			// The cell has not reported yet.
			continue
		}
		status, faults := wire.Report[ReflectedStatus](items[i].Status.Raw, lists)
		bound(&status.WorkloadDeploymentStatus)
		reports = append(reports, report{cell: items[i].ClusterName, status: status, faults: faults})
	}
	slices.SortStableFunc(reports, func(a, b report) int { return strings.Compare(a.cell, b.cell) })
	return reports
}

// reportValid is the condition about the first report with faults; nil: no report has faults. It keeps its time while a
// report has any.
func reportValid(onHub *v1alpha.WorkloadDeployment, reports []report, now metav1.Time) *metav1.Condition {
	first := slices.IndexFunc(reports, func(r report) bool { return r.ignored() != "" })
	if first < 0 {
		return nil
	}
	since := now.Rfc3339Copy()
	before := meta.FindStatusCondition(onHub.Status.Conditions, v1alpha.ConditionReportValid)
	if before != nil && !before.LastTransitionTime.IsZero() {
		since = before.LastTransitionTime
	}
	return invalid(fmt.Sprintf("cell %s: %s", reports[first].cell, reports[first].ignored()), since)
}

// ignored is the message about the faults of a report, or about the faults that the cell itself has found; "": no
// faults.
func (r *report) ignored() string {
	if message := ignored(r.faults); message != "" {
		return message
	}
	stated := meta.FindStatusCondition(r.status.Conditions, v1alpha.ConditionReportValid)
	if stated != nil && stated.Status == metav1.ConditionFalse {
		return stated.Message
	}
	return ""
}

// ignored is the message about faults; "" without any.
func ignored(faults wire.Faults) string {
	if len(faults) == 0 {
		return ""
	}
	return fmt.Sprintf("fields of its report have a wrong type or range and are ignored: %s", faults)
}

func invalid(message string, since metav1.Time) *metav1.Condition {
	return &metav1.Condition{
		Type: v1alpha.ConditionReportValid, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonReportFieldsIgnored,
		LastTransitionTime: since, Message: message,
	}
}

// mergeConditions replaces conditions of result that are better than the report's. With several cells, the messages
// name the cell.
func mergeConditions(result *v1alpha.WorkloadDeploymentStatus, from report, several bool) {
	for _, condition := range from.status.Conditions {
		if condition.Type == v1alpha.ConditionReportValid {
			// The hub has one condition about all reports.
			continue
		}
		if several {
			condition.Message = strings.TrimSuffix(fmt.Sprintf("cell %s: %s", from.cell, condition.Message), ": ")
		}
		index := slices.IndexFunc(result.Conditions, func(c metav1.Condition) bool { return c.Type == condition.Type })
		switch {
		case index < 0:
			result.Conditions = append(result.Conditions, condition)
		case badness(condition) > badness(result.Conditions[index]):
			result.Conditions[index] = condition
		}
	}
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
