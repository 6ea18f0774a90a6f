// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"fmt"
	"maps"
	"slices"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Judge returns the faults on a path in path order, and at most one of each cell, since the other faults of a cell
// follow from it. It does not change its arguments. The path is the deployment's own or, of a Row with a Slice, the
// slice's.
func Judge(w *Row) []Finding {
	if w.Slice != nil {
		return w.Slice.judge(w)
	}
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
		return w.leftovers(deployment{w})
	case w.Karmada.Down:
		// All other faults follow from this one, and no controller would react to a repair.
		return []Finding{{Fault: KarmadaNotRunning, Message: w.Karmada.Message, Since: w.Karmada.Since, Certain: true}}
	}
	if fault := w.binding(deployment{w}); fault != nil {
		// Karmada cannot repair lost cells, and they are known for certain.
		return append([]Finding{*fault}, w.lostCells()...)
	}
	findings := appendFound(w.cells(deployment{w}), w.division())
	return slices.Concat(findings, w.orphans(), w.lostLeavers())
}

func appendFound(findings []Finding, f *Finding) []Finding {
	if f == nil {
		return findings
	}
	return append(findings, *f)
}

// lostLeavers are the cells of the assignment that the binding does not name any more and that Karmada does not reach:
// it keeps their last reports.
func (w *Row) lostLeavers() []Finding {
	return slices.DeleteFunc(w.lostCells(), func(f Finding) bool {
		cell, _ := w.Cells.Find(f.Cell)
		return cell.Gone || slices.ContainsFunc(w.Binding.Spec.Clusters, func(c workv1alpha2.TargetCluster) bool { return c.Name == f.Cell })
	})
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
		return &Finding{Fault: AgentNotReady, Cell: name, Message: cell.Agent.Message}
	}
	return nil
}

// readySince returns at, or when the cell became Ready if that was later: before, Karmada could not act on it.
func (w *Row) readySince(name string, at metav1.Time) time.Time {
	if cell, exists := w.Cells.Find(name); exists && cell.Since.After(at.Time) {
		return cell.Since
	}
	return at.Time
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

// orphans returns findings for the Works of Ready cells that the binding does not name.
func (w *Row) orphans() []Finding {
	var findings []Finding
	for _, cell := range slices.Sorted(maps.Keys(w.Works)) {
		work := w.Works[cell]
		if names(w.Binding, cell) || !w.Cells.Ready(cell) {
			continue
		}
		if !work.DeletionTimestamp.IsZero() {
			findings = append(findings, *w.workDeleting(deployment{w}, cell, work))
			continue
		}
		findings = append(findings, *found(WorkOrphaned, RefreshBinding, w.Binding,
			"the cell still runs the deployment although it is no longer scheduled there; retrying").inCell(cell))
	}
	return findings
}

// Leaves reports whether Karmada takes the deployment from a cell: it has scheduled it to other cells, or evicts it. Without a
// schedule that is not known.
func (w *Row) Leaves(cell string) bool {
	if w.Binding == nil {
		return false
	}
	if isEvicted(w.Binding, cell) {
		return true
	}
	return len(w.Binding.Spec.Clusters) > 0 && !isTarget(w.Binding, cell)
}

// names reports whether a binding needs a Work in a cell.
func names(binding *workv1alpha2.ResourceBinding, cell string) bool {
	return isTarget(binding, cell) || isEvicted(binding, cell)
}

func isTarget(binding *workv1alpha2.ResourceBinding, cell string) bool {
	return slices.ContainsFunc(binding.Spec.Clusters, func(c workv1alpha2.TargetCluster) bool { return c.Name == cell })
}

func isEvicted(binding *workv1alpha2.ResourceBinding, cell string) bool {
	return slices.ContainsFunc(binding.Spec.GracefulEvictionTasks, func(task workv1alpha2.GracefulEvictionTask) bool {
		return task.FromCluster == cell
	})
}
