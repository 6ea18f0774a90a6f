// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"fmt"
	"maps"
	"slices"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Report is a cell's report of a copy, as Karmada keeps it in the Work for the cell. It is shared with the cache and must
// not be changed.
type Report struct{ wire.CellReport }

// maxReport is the longest report that is read, in bytes. Reports of agents are a few KiB; the longest are of Instances
// that all have failed in different ways.
const maxReport = 512 << 10

// Numbers in place of generations that cannot be read. They equal no other generation, so that they confirm nothing.
const (
	noGeneration         = -1
	noObservedGeneration = -2
)

// DecodeReport decodes a cell's report; nil: it is no report. A field of a wrong type costs that field and no other, as
// in the interpreter. A report larger than an agent writes confirms nothing.
func DecodeReport(status *runtime.RawExtension) *Report {
	if status == nil {
		return nil
	}
	if decoded, ok := status.Object.(*Report); ok {
		return decoded
	}
	if len(status.Raw) > maxReport {
		return nil
	}
	decoded := wire.DecodeReport(status.Raw)
	if decoded == nil || decoded.Faults[wire.WholeStatus] || decoded.Cut {
		return nil
	}
	if decoded.Faults["generation"] {
		decoded.Generation = noGeneration
	}
	if decoded.Faults["observedGeneration"] {
		decoded.ObservedGeneration = noObservedGeneration
	}
	return &Report{*decoded}
}

// GetObjectKind returns an empty kind: a report is an object only so that a Work in the cache can have it, decoded once.
func (*Report) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns a copy.
func (r *Report) DeepCopyObject() runtime.Object {
	copied := *r
	copied.WorkloadDeploymentStatus = *r.DeepCopy()
	copied.Faults = maps.Clone(r.Faults)
	return &copied
}

// Suspended reports whether the cell confirms that nothing of the deployment runs there, because its project is
// suspended.
func (r *Report) Suspended() bool {
	return meta.IsStatusConditionTrue(r.Conditions, v1alpha.ConditionSuspended)
}

// LacksFields reports whether the cell lacks fields of the deployment.
func (r *Report) LacksFields() bool {
	return meta.IsStatusConditionFalse(r.Conditions, v1alpha.ConditionSpecReceived)
}

// Facts are the facts about the Instances of the cell.
func (r *Report) Facts() v1alpha.CellIndices {
	if len(r.Indices) == 0 {
		return v1alpha.CellIndices{}
	}
	return r.Indices[0]
}

// SameGenerations reports whether two reports are about the same generations of the copy and of the deployment in the
// cell.
func (r *Report) SameGenerations(other *Report) bool {
	return r.Generation == other.Generation && r.ObservedGeneration == other.ObservedGeneration &&
		r.ResourceTemplateGeneration == other.ResourceTemplateGeneration
}

// actsOn reports whether the agent of the cell has acted on the present copy.
func (r *Report) actsOn(copied *v1alpha.WorkloadDeployment) bool {
	return r.ResourceTemplateGeneration == copied.Generation && r.ObservedGeneration == r.Generation
}

// Reports are the reports of the cells of a copy, from the Works that Karmada keeps for them. Karmada also writes them
// into the binding and, aggregated, into the status of the copy, which takes two more writes and can fail for all cells
// because of one: nothing reads these.
type Reports struct {
	// Binding is the binding of the copy; nil before Karmada has created it.
	Binding *workv1alpha2.ResourceBinding

	copied *v1alpha.WorkloadDeployment
	// works are the Works that carry the copy, by cell.
	works map[string]*workv1alpha1.Work
	// sent: a cell has, or may have, the deployment, of this copy or of an earlier one.
	sent bool
}

// ReadReports reads the reports of the cells that a copy assigns Instances to, and that Karmada has bound it to. hub may
// be a cache, or an API server.
func ReadReports(ctx context.Context, hub client.Reader, copied *v1alpha.WorkloadDeployment) (*Reports, error) {
	binding, err := GetBinding(ctx, hub, client.ObjectKeyFromObject(copied))
	if err != nil {
		return nil, err
	}
	works := map[string]*workv1alpha1.Work{}
	for _, cell := range cellsOf(copied, binding) {
		work := &workv1alpha1.Work{}
		key := types.NamespacedName{
			Namespace: karmadanames.GenerateExecutionSpaceName(cell),
			Name:      karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, copied.Name, copied.Namespace),
		}
		if err := hub.Get(ctx, key, work); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get Work %s: %w", key, err)
		} else if err == nil {
			works[cell] = work
		}
	}
	return ReportsIn(copied, binding, works), nil
}

// ReadyIn returns how many Instances of the deployment of a binding a cell reports as Ready.
func ReadyIn(ctx context.Context, hub client.Reader, binding *workv1alpha2.ResourceBinding, cell string) (int32, error) {
	copied := &v1alpha.WorkloadDeployment{}
	copied.Namespace, copied.Name, copied.UID = binding.Namespace, binding.Spec.Resource.Name, binding.Spec.Resource.UID
	reports, err := ReadReports(ctx, hub, copied)
	if err != nil {
		return 0, err
	}
	if report := reports.OfCell(cell); report != nil {
		return report.ReadyReplicas, nil
	}
	return 0, nil
}

// ReportsIn returns the reports on a copy in Works, which have its name, by cell. binding may be nil.
func ReportsIn(
	copied *v1alpha.WorkloadDeployment, binding *workv1alpha2.ResourceBinding, works map[string]*workv1alpha1.Work,
) *Reports {
	r := &Reports{Binding: binding, copied: copied, works: map[string]*workv1alpha1.Work{}, sent: len(works) > 0}
	for cell, work := range works {
		if carries(work, copied) {
			r.works[cell] = work
		}
	}
	return r
}

// cellsOf returns the cells of the assignment and of the binding, which may be nil, sorted.
func cellsOf(copied *v1alpha.WorkloadDeployment, binding *workv1alpha2.ResourceBinding) []string {
	var names []string
	if copied.Spec.Assignment != nil {
		for i := range copied.Spec.Assignment.Cells {
			names = append(names, copied.Spec.Assignment.Cells[i].Name)
		}
	}
	if binding != nil {
		for i := range binding.Spec.Clusters {
			names = append(names, binding.Spec.Clusters[i].Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// carries reports whether Karmada has made a Work from this very copy, and keeps it: the reports in other Works of the
// name are about an earlier copy, and in a Work that is being deleted about a deployment that the cell is losing.
func carries(work *workv1alpha1.Work, copied *v1alpha.WorkloadDeployment) bool {
	m, ours := manifestOf(work)
	return ours && work.DeletionTimestamp.IsZero() && m.Metadata.Annotations.TemplateUID == string(copied.UID)
}

// Report returns the report of a cell on the present copy; nil: it has none.
func (w *Row) Report(cell string) *Report {
	if work := w.Works[cell]; work != nil && w.Copied != nil && carries(work, w.Copied) {
		return report(work)
	}
	return nil
}

// OfCell returns the report of a cell; nil: it has not reported.
func (r *Reports) OfCell(cell string) *Report {
	if work := r.works[cell]; work != nil {
		return report(work)
	}
	return nil
}

// Status is the status that the cells report together. It is empty, without a generation, while no cell has reported:
// this is no evidence about Instances, unless Karmada has removed the deployment from all cells.
func (r *Reports) Status() v1alpha.WorkloadDeploymentStatus {
	onHub := *r.copied
	onHub.Status = v1alpha.WorkloadDeploymentStatus{}
	var items []wire.CellStatus
	for _, cell := range slices.Sorted(maps.Keys(r.works)) {
		item := wire.CellStatus{Cell: cell}
		if found := r.OfCell(cell); found != nil {
			item.Report = &found.CellReport
		}
		items = append(items, item)
	}
	return *wire.AggregateStatus(&onHub, items, metav1.Time{})
}

// Nowhere reports whether Karmada has removed the deployment from all cells, because its scheduler has found none.
func (r *Reports) Nowhere() bool {
	return r.Binding != nil && len(r.Binding.Spec.Clusters) == 0 && !r.sent && Refusal(r.Binding) != "" &&
		r.Binding.Spec.Resource.UID == r.copied.UID
}

// MayRun reports whether a cell may still run the Instance at an index that the assignment has removed from it.
func (r *Reports) MayRun(cell string, index int) bool { return !r.Known(cell).Stopped(index) }
