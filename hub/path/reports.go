// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"encoding/json"
	"slices"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Report is the part of a cell's report that the controllers read. The fields are the interpreter's.
type Report struct {
	// Generation is the generation of the deployment in the cell, and ObservedGeneration the one that its agent has
	// acted on.
	Generation         int64 `json:"generation,omitempty"`
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ResourceTemplateGeneration is the generation of the copy that the deployment in the cell was written from.
	ResourceTemplateGeneration int64 `json:"resourceTemplateGeneration,omitempty"`
	// Replicas and ReadyReplicas are the numbers of Instances that exist, and that are Ready.
	Replicas      int32 `json:"replicas,omitempty"`
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// Conditions hold Suspended, while the project is suspended, and SpecReceived, while the cell lacks fields.
	Conditions []ReportedCondition `json:"conditions,omitempty"`
	// Indices are the indices of existing Instances. A trimmed report has them only if the binding divides them among
	// cells.
	Indices []ReportedIndices `json:"indices,omitempty"`
}

// ReportedIndices are the indices of Instances in a Report.
type ReportedIndices struct {
	// Existing are the indices that exist, in the format of naming.Parse.
	Existing string `json:"existing,omitempty"`
}

// ReportedCondition is a condition in a Report.
type ReportedCondition struct {
	// Type of the condition.
	Type string `json:"type"`
	// Status of the condition.
	Status metav1.ConditionStatus `json:"status"`
}

// Suspended reports whether the cell confirms that nothing of the deployment runs there, because its project is
// suspended.
func (r *Report) Suspended() bool {
	return slices.Contains(r.Conditions, ReportedCondition{v1alpha.ConditionSuspended, metav1.ConditionTrue})
}

// LacksFields reports whether the cell lacks fields of the deployment.
func (r *Report) LacksFields() bool {
	return slices.Contains(r.Conditions, ReportedCondition{v1alpha.ConditionSpecReceived, metav1.ConditionFalse})
}

// Numbers returns the report without the indices, comparable with ==. A confirmed suspension counts 1, and missing
// fields 2.
func (r *Report) Numbers() [6]int64 {
	var says int64
	if r.Suspended() {
		says++
	}
	if r.LacksFields() {
		says += 2
	}
	return [6]int64{r.Generation, r.ObservedGeneration, r.ResourceTemplateGeneration, int64(r.Replicas), int64(r.ReadyReplicas), says}
}

// divided is the placement of every trimmed binding that divides its replicas. All share it.
var divided = &policyv1alpha1.Placement{
	ReplicaScheduling: &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided},
}

// TrimBinding is a cache transform that keeps the parts of a ResourceBinding that the controllers read. Whole ones
// would hold the status of every deployment in memory a second time.
func TrimBinding(object any) (any, error) {
	binding, ok := object.(*workv1alpha2.ResourceBinding)
	if !ok {
		return object, nil
	}
	trimmed := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Namespace: binding.Namespace, Name: binding.Name, UID: binding.UID, ResourceVersion: binding.ResourceVersion,
	}}
	switch {
	case client.ObjectKeyFromObject(binding) == cells.Binding:
		trimmed.Spec = workv1alpha2.ResourceBindingSpec{Resource: binding.Spec.Resource, Clusters: binding.Spec.Clusters}
		trimmed.Status.AggregatedStatus = binding.Status.AggregatedStatus
	case isOf(binding, v1alpha.KindWorkloadDeployment):
		trimOurs(binding, trimmed)
	case isOf(binding, v1alpha.KindInstanceSlice):
		trimSlice(binding, trimmed)
	case IsOfData(binding):
		trimmed.DeletionTimestamp, trimmed.Spec.Resource = binding.DeletionTimestamp, binding.Spec.Resource
	}
	return trimmed, nil
}

// trimOurs keeps the target cells, the owner and the cells' reports in the binding of a WorkloadDeployment.
func trimOurs(binding, trimmed *workv1alpha2.ResourceBinding) {
	trimOwner(binding, trimmed)
	trimmed.Spec = workv1alpha2.ResourceBindingSpec{Resource: binding.Spec.Resource, Clusters: binding.Spec.Clusters}
	trimmed.Spec.Resource.ResourceVersion = ""
	for i := range binding.Spec.GracefulEvictionTasks {
		trimmed.Spec.GracefulEvictionTasks = append(trimmed.Spec.GracefulEvictionTasks,
			workv1alpha2.GracefulEvictionTask{FromCluster: binding.Spec.GracefulEvictionTasks[i].FromCluster})
	}
	if IsDivided(binding) {
		trimmed.Spec.Placement = divided
	}
	for _, condition := range binding.Status.Conditions {
		if condition.Type == workv1alpha2.Scheduled {
			trimmed.Status.Conditions = []metav1.Condition{condition}
		}
	}
	trimmed.Status.SchedulerObservedAffinityName = binding.Status.SchedulerObservedAffinityName
	trimmed.Status.AggregatedStatus = trimReports(binding.Status.AggregatedStatus, hasIndices(binding))
}

// trimOwner keeps the owner of a binding, and the time of its deletion.
func trimOwner(binding, trimmed *workv1alpha2.ResourceBinding) {
	trimmed.DeletionTimestamp = binding.DeletionTimestamp
	if owner := metav1.GetControllerOfNoCopy(binding); owner != nil {
		trimmed.OwnerReferences = []metav1.OwnerReference{{UID: owner.UID, Controller: owner.Controller}}
	}
}

// IsDivided reports whether the replicas of a binding, trimmed or not, are divided among several cells.
func IsDivided(binding *workv1alpha2.ResourceBinding) bool {
	placement := binding.Spec.Placement
	return placement != nil && placement.ReplicaSchedulingType() == policyv1alpha1.ReplicaSchedulingTypeDivided
}

// hasIndices reports whether the reports of a binding, trimmed or not, have the indices of Instances. In a binding that
// is not divided, no cell waits for another to release an index.
func hasIndices(binding *workv1alpha2.ResourceBinding) bool {
	return IsDivided(binding) || len(binding.Status.AggregatedStatus) > 1
}

// trimReports drops a report that cannot be decoded: it confirms nothing.
func trimReports(items []workv1alpha2.AggregatedStatusItem, indices bool) []workv1alpha2.AggregatedStatusItem {
	var result []workv1alpha2.AggregatedStatusItem
	for i := range items {
		result = append(result, workv1alpha2.AggregatedStatusItem{
			ClusterName: items[i].ClusterName, Applied: items[i].Applied, Status: TrimReport(items[i].Status, indices),
		})
	}
	return result
}

// TrimReport reduces a cell's status to a Report, with or without the indices of Instances. It returns nil if the
// status is no report.
func TrimReport(status *runtime.RawExtension, indices bool) *runtime.RawExtension {
	read := decodeNumbers
	if indices {
		read = DecodeReport
	}
	decoded := read(status)
	if decoded == nil {
		return nil
	}
	// Numbers and strings always encode.
	raw, _ := json.Marshal(decoded)
	return &runtime.RawExtension{Raw: raw}
}

// maxIndices is the longest list of indices, as text, that an agent reports.
const maxIndices = 32768

// lists bounds the lists of a report with faults. Two lists of indices are one more than an agent reports.
var lists = wire.Lists{Most: 64, Named: map[string]int{"indices": 2}, OfType: 64}

// Numbers in place of generations that cannot be read. They equal no other generation, so that they confirm nothing.
const (
	noGeneration         = -1
	noObservedGeneration = -2
)

// DecodeReport decodes a cell's report; nil: it is no report. A field of a wrong type costs that field and no other, as
// in the interpreter. A report larger than an agent writes confirms nothing.
func DecodeReport(status *runtime.RawExtension) *Report {
	decoded := &Report{}
	if !unmarshal(status, decoded) {
		decoded = repaired(status)
	}
	if decoded == nil || len(decoded.Indices) > 1 || len(decoded.Indices) == 1 && len(decoded.Indices[0].Existing) > maxIndices {
		return nil
	}
	return decoded.trimmed()
}

// decodeNumbers is DecodeReport without the indices, which are most of a report: they are only skipped.
func decodeNumbers(status *runtime.RawExtension) *Report {
	decoded := &struct {
		*Report
		Indices skipped `json:"indices"`
	}{Report: &Report{}}
	if !unmarshal(status, decoded) {
		decoded.Report = repaired(status)
	}
	if decoded.Report == nil {
		return nil
	}
	decoded.Report.Indices = nil
	return decoded.trimmed()
}

// repaired decodes a report that has fields of wrong types; nil: it is no report.
func repaired(status *runtime.RawExtension) *Report {
	if isEmpty(status) {
		return nil
	}
	decoded, faults := wire.Report[Report](status.Raw, lists)
	if faults[wire.WholeStatus] {
		return nil
	}
	if faults["generation"] {
		decoded.Generation = noGeneration
	}
	if faults["observedGeneration"] {
		decoded.ObservedGeneration = noObservedGeneration
	}
	if faults["indices.existing"] {
		decoded.Indices = nil
	}
	return &decoded
}

// trimmed returns the report with the conditions that the controllers read, one of each type.
func (r *Report) trimmed() *Report {
	var kept []ReportedCondition
	for _, condition := range r.Conditions {
		read := condition.Type == v1alpha.ConditionSuspended || condition.Type == v1alpha.ConditionSpecReceived
		if read && !slices.ContainsFunc(kept, func(c ReportedCondition) bool { return c.Type == condition.Type }) {
			kept = append(kept, condition)
		}
	}
	r.Conditions = kept
	return r
}

// skipped is JSON that is not decoded.
type skipped struct{}

// UnmarshalJSON ignores its input.
func (*skipped) UnmarshalJSON([]byte) error { return nil }

func isEmpty(status *runtime.RawExtension) bool {
	return status == nil || len(status.Raw) == 0 || string(status.Raw) == "null"
}

func unmarshal(status *runtime.RawExtension, into any) bool {
	return !isEmpty(status) && json.Unmarshal(status.Raw, into) == nil
}

// MayRun reports whether a cell may still run the Instance at an index that the assignment has removed from it. The
// cell may until it reports that it has acted on the newest copy and has no such Instance: a report without indices is
// no proof. binding may be nil.
func MayRun(binding *workv1alpha2.ResourceBinding, copied *v1alpha.WorkloadDeployment, cell string, index int) bool {
	found := ReportOf(binding, cell)
	if found == nil || !hasIndices(binding) || len(found.Indices) == 0 ||
		found.ResourceTemplateGeneration != copied.Generation || found.ObservedGeneration != found.Generation {
		return true
	}
	return found.has(index)
}

// has reports whether the cell has the Instance at an index.
func (r *Report) has(index int) bool {
	return slices.ContainsFunc(r.Indices, func(of ReportedIndices) bool { return naming.Contains(of.Existing, index) })
}

// ReportOf returns a cell's report of a deployment, or nil. binding may be nil.
func ReportOf(binding *workv1alpha2.ResourceBinding, cell string) *Report {
	if binding == nil {
		return nil
	}
	for i := range binding.Status.AggregatedStatus {
		if binding.Status.AggregatedStatus[i].ClusterName == cell {
			return DecodeReport(binding.Status.AggregatedStatus[i].Status)
		}
	}
	return nil
}
