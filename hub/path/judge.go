// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Judge returns the faults on a path in path order, and at most one of each cell, since the other faults of a cell
// follow from it. It does not change its arguments.
func Judge(w *Row) []Finding {
	findings := judge(w)
	if w.Obstacle != nil {
		findings = append(findings, *w.Obstacle)
	}
	return findings
}

func judge(w *Row) []Finding {
	ending := w.Copied == nil || !w.Copied.DeletionTimestamp.IsZero()
	switch {
	case w.Karmada.Down && ending:
		return nil
	case ending:
		return w.leftovers()
	case w.Karmada.Down:
		// All other faults follow from this one, and no controller would react to a repair.
		return []Finding{{Fault: KarmadaNotRunning, Message: w.Karmada.Message, Since: w.Karmada.Since, Certain: true}}
	}
	var findings []Finding
	add := func(f *Finding) {
		if f != nil {
			findings = append(findings, *f)
		}
	}
	if add(w.binding()); len(findings) > 0 {
		// Karmada cannot repair lost cells, and they are known for certain.
		return append(findings, w.lostCells()...)
	}
	for _, cell := range w.targets() {
		add(w.cell(cell))
	}
	if len(findings) == 0 {
		add(w.aggregation())
	}
	add(w.division())
	return slices.Concat(findings, w.orphans(), w.lostLeavers())
}

// lostLeavers are the cells of the assignment that the binding does not name any more and that Karmada does not reach:
// it keeps their last reports.
func (w *Row) lostLeavers() []Finding {
	return slices.DeleteFunc(w.lostCells(), func(f Finding) bool {
		cell, _ := w.Cells.Find(f.Cell)
		return cell.Gone || slices.ContainsFunc(w.Binding.Spec.Clusters, func(c workv1alpha2.TargetCluster) bool { return c.Name == f.Cell })
	})
}

// binding judges whether the binding belongs to the copy.
func (w *Row) binding() *Finding {
	b := w.Binding
	switch {
	case b == nil:
		return found(BindingMissing, TouchCopy, w.Copied,
			"Karmada has no ResourceBinding for the deployment; the add-on touches the hub's copy so that Karmada creates one")
	case !b.DeletionTimestamp.IsZero():
		return found(BindingDeleting, RefreshBinding, b,
			"Karmada is deleting the ResourceBinding of the deployment and then creates another one").
			from(b.DeletionTimestamp.Time)
	case !w.owned() && w.ofAnotherWorkload():
		return found(BindingOwnerGone, DeleteBinding, b,
			"the ResourceBinding and the running Instances belong to an earlier Workload of this name; the add-on deletes them")
	case !w.owned():
		return found(BindingOwnerGone, AdoptBinding, b,
			"the ResourceBinding belongs to an earlier copy of the deployment, so Karmada does not change it; the add-on makes "+
				"the current copy its owner")
	case w.unscheduled():
		return found(NotScheduled, RefreshBinding, b, "Karmada has neither scheduled the deployment nor reported a reason; rescheduling")
	}
	return nil
}

// unscheduled reports whether the binding names no cell although it should, or although Karmada has given no reason.
func (w *Row) unscheduled() bool {
	if len(w.Binding.Spec.Clusters) > 0 {
		return false
	}
	scheduled := meta.FindStatusCondition(w.Binding.Status.Conditions, workv1alpha2.Scheduled)
	return scheduled == nil || scheduled.Status == metav1.ConditionTrue && w.Copied.Spec.StatedReplicas() > 0
}

// owned reports whether the binding belongs to the present copy.
func (w *Row) owned() bool {
	if owner := metav1.GetControllerOfNoCopy(w.Binding); owner != nil && owner.UID != w.Copied.UID {
		return false
	}
	return w.Binding.Spec.Resource.UID == "" || w.Binding.Spec.Resource.UID == w.Copied.UID
}

// ofAnotherWorkload reports whether the Works were created for another Workload than the copy's.
func (w *Row) ofAnotherWorkload() bool {
	for _, work := range w.Works {
		m, ours := manifestOf(work)
		if uid := m.Metadata.Labels.WorkloadUID; ours && uid != "" && uid != w.Copied.Labels[v1alpha.LabelWorkloadUID] {
			return true
		}
	}
	return false
}

// targets returns the cells that the binding names, sorted, without the cells that are lost permanently: hub/cells
// handles those cells.
func (w *Row) targets() []string {
	cells := make([]string, 0, len(w.Binding.Spec.Clusters))
	for _, target := range w.Binding.Spec.Clusters {
		if cell, _ := w.Cells.Find(target.Name); !cell.Gone {
			cells = append(cells, target.Name)
		}
	}
	slices.Sort(cells)
	return cells
}

// lostCells returns findings for the cells of the assignment that are not Ready.
func (w *Row) lostCells() []Finding {
	var findings []Finding
	if w.Copied.Spec.Assignment == nil {
		return nil
	}
	for i := range w.Copied.Spec.Assignment.Cells {
		if lost := w.reach(w.Copied.Spec.Assignment.Cells[i].Name); lost != nil && lost.Fault == CellNotReady {
			findings = append(findings, *lost)
		}
	}
	return findings
}

// cell judges the path to one cell that the binding names, and back.
func (w *Row) cell(name string) *Finding {
	away := w.reach(name)
	if away != nil && away.Fault == CellNotReady {
		return away
	}
	work := w.Works[name]
	if work == nil {
		return found(WorkMissing, RefreshBinding, w.Binding, "Karmada has no Work for the cell; retrying").in(name)
	}
	return cmp.Or(w.work(name, work), away, w.report(name, work))
}

// reach judges whether the cell and its agent are running.
func (w *Row) reach(name string) *Finding {
	cell, exists := w.Cells.Find(name)
	switch {
	case !exists:
		return &Finding{Fault: CellNotReady, Cell: name, Certain: true, Message: fmt.Sprintf("the hub no longer has Cluster %s", name)}
	case !cell.Ready:
		return &Finding{
			Fault: CellNotReady, Cell: name, Since: cell.Since, Certain: true,
			Message: "Karmada does not reach the cell; the state of its Instances is unknown until it does",
		}
	case cell.Agent.Down:
		return &Finding{Fault: AgentNotReady, Cell: name, Since: cell.Agent.Since, Message: cell.Agent.Message}
	}
	return nil
}

// work judges whether the Work of a Ready cell carries the present copy and was applied.
func (w *Row) work(cell string, work *workv1alpha1.Work) *Finding {
	m, _ := manifestOf(work)
	applied := meta.FindStatusCondition(work.Status.Conditions, workv1alpha1.WorkApplied)
	switch {
	case !work.DeletionTimestamp.IsZero():
		return w.workDeleting(cell, work)
	case m.Metadata.Annotations.TemplateUID != string(w.Copied.UID) || m.templateGeneration() < w.Copied.Generation:
		return found(WorkOutdated, RefreshBinding, w.Binding, fmt.Sprintf(
			"Karmada has not sent generation %d of the hub's copy to the cell; its Work has generation %d", w.Copied.Generation,
			m.templateGeneration())).in(cell)
	case m.templateGeneration() == w.Copied.Generation && m.Spec != digestOf(&w.Copied.Spec) && !overridden(work):
		return found(WorkEdited, RefreshBinding, w.Binding, "the Work differs from the hub's copy: it was edited by hand; retrying").in(cell)
	case applied == nil:
		return found(WorkNotApplied, ToggleWork, work, "Karmada has not written the deployment into the cell").in(cell)
	case applied.Status != metav1.ConditionTrue:
		return found(WorkNotApplied, ToggleWork, work, "Karmada cannot write the deployment into the cell: "+applied.Message).in(cell).
			from(w.readySince(cell, applied.LastTransitionTime))
	}
	return nil
}

// workDeleting is the finding of a Work that is being deleted although its cell is Ready.
func (w *Row) workDeleting(cell string, work *workv1alpha1.Work) *Finding {
	return found(WorkDeleting, ToggleWork, work, "Karmada has not removed the deployment from the cell; retrying").in(cell).
		from(w.readySince(cell, *work.DeletionTimestamp))
}

// readySince returns at, or when the cell became Ready if that was later: before, Karmada could not act on it.
func (w *Row) readySince(name string, at metav1.Time) time.Time {
	if cell, exists := w.Cells.Find(name); exists && cell.Since.After(at.Time) {
		return cell.Since
	}
	return at.Time
}

// report judges whether the cell's report is about the present copy, and was collected.
func (w *Row) report(cell string, work *workv1alpha1.Work) *Finding {
	m, _ := manifestOf(work)
	reported, collected := report(work), ReportOf(w.Binding, cell)
	switch {
	case reported == nil:
		return found(ReportMissing, TouchCopy, w.Copied, "the cell does not report on the deployment").in(cell)
	case reported.ResourceTemplateGeneration < m.templateGeneration():
		return found(ReportOutdated, ToggleWork, work,
			fmt.Sprintf("the cell reports on generation %d of the hub's copy; its Work has generation %d",
				reported.ResourceTemplateGeneration, m.templateGeneration())).in(cell)
	case reported.ObservedGeneration < reported.Generation:
		return &Finding{
			Fault: ReportOutdated, Cell: cell,
			Message: "the agent of the cell has not acted on the newest generation; see Deployment karmada-compute-cell in the cell",
		}
	case reported.LacksFields():
		return found(WorkNotApplied, ToggleWork, work,
			"the CRD or the agent of the cell is older than the hub and lacks fields of the deployment; sending it again").in(cell)
	case collected == nil || collected.Numbers() != reported.Numbers():
		return found(StatusOutdated, RefreshBinding, w.Binding, "Karmada has not collected the cell's report").in(cell)
	}
	return nil
}

// aggregation judges whether the status of the copy matches the reports of all its cells. A Ready cell that the binding
// does not name has no Instance to report once its report is gone.
func (w *Row) aggregation() *Finding {
	var ready int32
	reports := 0
	owners := w.owners()
	for _, cell := range owners {
		reported := ReportOf(w.Binding, cell)
		if reported == nil && (w.leaves(cell) || !names(w.Binding, cell) && w.Cells.Ready(cell)) {
			continue
		}
		if reported == nil || reported.ResourceTemplateGeneration != w.Copied.Generation || reported.ObservedGeneration != reported.Generation {
			return nil
		}
		ready += reported.ReadyReplicas
		reports++
	}
	// Without a report, no generation was observed.
	observed := reports == 0 || w.Copied.Status.ObservedGeneration == w.Copied.Generation
	if len(owners) == 0 || observed && w.Copied.Status.ReadyReplicas == ready {
		return nil
	}
	return found(StatusOutdated, RefreshBinding, w.Binding, "Karmada has not aggregated the reports of the cells")
}

// division judges whether Karmada divides the Instances that the copy requests, and the copy assigns them as Karmada
// divides them. Instances that Karmada refuses to divide are no fault of the path.
func (w *Row) division() *Finding {
	if !IsDivided(w.Binding) || len(w.Binding.Spec.Clusters) == 0 || Refusal(w.Binding) != "" {
		return nil
	}
	var sum int32
	assigned := true
	for _, target := range w.Binding.Spec.Clusters {
		sum += target.Replicas
		assigned = assigned && w.assigned(target.Name) == target.Replicas
	}
	switch wanted := w.Copied.Spec.StatedReplicas(); {
	case sum != wanted:
		return found(DivisionOutdated, TouchCopy, w.Copied,
			fmt.Sprintf("Karmada scheduled %d of %s; retrying", sum, reasons.Count(wanted, "Instance", "Instances")))
	case !assigned:
		return found(AssignmentOutdated, TouchCopy, w.Copied,
			"the assignment of Instances to cells differs from Karmada's schedule; the add-on updates it")
	}
	return nil
}

// assigned returns the number of Instances that the assignment gives to a cell; with an autoscaler, the minimum.
func (w *Row) assigned(cell string) int32 {
	if w.Copied.Spec.Assignment == nil {
		return 0
	}
	if w.Copied.Spec.Autoscaled() {
		for _, c := range w.Copied.Spec.Assignment.Cells {
			if c.Name == cell && c.MinReplicas != nil {
				return *c.MinReplicas
			}
		}
		return 0
	}
	count := int32(len(naming.Assigned(w.Copied.Spec.Assignment, cell))) //nolint:gosec // there are at most 1000
	for _, c := range w.Copied.Spec.Assignment.Cells {
		if c.Name == cell && c.MinReplicas != nil {
			// It has the additional Instances of a rollout, which Karmada does not divide.
			count -= w.Copied.Spec.DesiredReplicas() - w.Copied.Spec.StatedReplicas()
		}
	}
	return count
}

// leaves reports whether a cell has only indices to release: Karmada drops its report with its Work.
func (w *Row) leaves(cell string) bool {
	return w.Copied.Spec.Assignment != nil && len(naming.Assigned(w.Copied.Spec.Assignment, cell)) == 0
}

// owners returns the cells whose reports make up the status of the copy.
func (w *Row) owners() []string {
	if w.Copied.Spec.Assignment == nil {
		return w.targets()
	}
	var cells []string
	for i := range w.Copied.Spec.Assignment.Cells {
		cells = append(cells, w.Copied.Spec.Assignment.Cells[i].Name)
	}
	return cells
}

// orphans returns findings for the Works of Ready cells that the binding does not name.
func (w *Row) orphans() []Finding {
	var findings []Finding
	for _, cell := range slices.Sorted(maps.Keys(w.Works)) {
		work := w.Works[cell]
		if names(w.Binding, cell) || !w.Cells.Ready(cell) {
			continue
		}
		if !work.DeletionTimestamp.IsZero() {
			findings = append(findings, *w.work(cell, work))
			continue
		}
		findings = append(findings, *found(WorkOrphaned, RefreshBinding, w.Binding,
			"the cell still runs the deployment although it is no longer scheduled there; retrying").in(cell))
	}
	return findings
}

// names reports whether a binding needs a Work in a cell.
func names(binding *workv1alpha2.ResourceBinding, cell string) bool {
	return slices.ContainsFunc(binding.Spec.Clusters, func(c workv1alpha2.TargetCluster) bool { return c.Name == cell }) ||
		slices.ContainsFunc(binding.Spec.GracefulEvictionTasks, func(t workv1alpha2.GracefulEvictionTask) bool { return t.FromCluster == cell })
}

// leftovers returns findings for the Works and the binding of a copy that does not exist or is being deleted: for
// deletions that do not end, and for objects of a copy that does not exist. The controller checks at the API servers
// whether these may be deleted.
func (w *Row) leftovers() []Finding {
	var findings []Finding
	switch {
	case w.Binding == nil:
	case !w.Binding.DeletionTimestamp.IsZero():
		findings = append(findings, *found(BindingDeleting, RefreshBinding, w.Binding, "Karmada has not deleted the ResourceBinding; retrying").
			from(w.Binding.DeletionTimestamp.Time))
	case w.Copied == nil:
		findings = append(findings, *found(CopyGone, DeleteBinding, w.Binding,
			"the deployment of the ResourceBinding no longer exists; the add-on deletes the ResourceBinding and its Instances"))
	}
	for _, cell := range slices.Sorted(maps.Keys(w.Works)) {
		switch work := w.Works[cell]; {
		case !work.DeletionTimestamp.IsZero() && w.Cells.Ready(cell):
			findings = append(findings, *w.workDeleting(cell, work))
		case work.DeletionTimestamp.IsZero() && w.Copied == nil && w.Binding == nil:
			findings = append(findings, *found(CopyGone, DeleteWork, work,
				"the deployment of the Work no longer exists; the add-on deletes the Work and its Instances").in(cell))
		}
	}
	return findings
}
