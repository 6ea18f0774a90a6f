// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// carried is an object on the hub that Karmada carries to cells: the copy of a deployment, or one of its slices. It
// answers the questions that differ between them; all others are answered here, once.
type carried interface {
	// String names the object in messages.
	String() string
	// exists reports whether the hub has the object.
	exists() bool
	// unbound is the finding of an object without a binding.
	unbound() *Finding
	// misbound is the finding of a binding that belongs to an earlier object, or that Karmada's scheduler has overlooked.
	misbound() *Finding
	// targets are the cells that need the object.
	targets() []string
	// outdated is the finding of a Work that does not carry the object as it is.
	outdated(cell string, work *workv1alpha1.Work) *Finding
	// away is the finding of a cell that does not answer; the deployment's own path shows it.
	away(cell string) *Finding
	// report judges whether the cell's report is about the object.
	report(cell string, work *workv1alpha1.Work) *Finding
}

// binding judges whether the binding belongs to the object.
func (w *Row) binding(object carried) *Finding {
	switch b := w.Binding; {
	case b == nil:
		return object.unbound()
	case !b.DeletionTimestamp.IsZero():
		return found(BindingDeleting, RefreshBinding, b,
			fmt.Sprintf("Karmada is deleting the ResourceBinding of %s and then creates another one", object)).
			begunAt(b.DeletionTimestamp.Time)
	}
	return object.misbound()
}

// cells judges the path to each cell, and back.
func (w *Row) cells(object carried) []Finding {
	var findings []Finding
	for _, cell := range object.targets() {
		findings = appendFound(findings, w.cell(object, cell))
	}
	return findings
}

func (w *Row) cell(object carried, name string) *Finding {
	away := object.away(name)
	if away != nil && away.Fault == CellNotReady || !w.Cells.Ready(name) {
		return away
	}
	work := w.Works[name]
	if work == nil {
		return found(WorkMissing, RefreshBinding, w.Binding, fmt.Sprintf("Karmada has no Work of %s for the cell; retrying", object)).inCell(name)
	}
	return cmp.Or(w.work(object, name, work), away, object.report(name, work))
}

// work judges whether the Work of a Ready cell carries the present object and was applied.
func (w *Row) work(object carried, cell string, work *workv1alpha1.Work) *Finding {
	if !work.DeletionTimestamp.IsZero() {
		return w.workDeleting(object, cell, work)
	}
	if outdated := object.outdated(cell, work); outdated != nil {
		return outdated
	}
	applied := meta.FindStatusCondition(work.Status.Conditions, workv1alpha1.WorkApplied)
	switch {
	case applied == nil:
		return found(WorkNotApplied, ToggleWork, work, fmt.Sprintf("Karmada has not written %s into the cell", object)).inCell(cell)
	case applied.Status != metav1.ConditionTrue:
		message := fmt.Sprintf("Karmada cannot write %s into the cell", object)
		if applied.Message != "" {
			message += ": " + applied.Message
		}
		return found(WorkNotApplied, ToggleWork, work, message).inCell(cell).begunAt(w.readySince(cell, applied.LastTransitionTime))
	}
	return nil
}

// workDeleting is the finding of a Work that is being deleted although its cell is Ready.
func (w *Row) workDeleting(object carried, cell string, work *workv1alpha1.Work) *Finding {
	return found(WorkDeleting, ToggleWork, work, fmt.Sprintf("Karmada has not removed %s from the cell; retrying", object)).inCell(cell).
		begunAt(w.readySince(cell, *work.DeletionTimestamp))
}

// leftovers returns findings for the Works and the binding of an object that does not exist or is being deleted: for
// deletions that do not end, and for objects of one that does not exist. The controller checks at the API servers
// whether these may be deleted.
func (w *Row) leftovers(object carried) []Finding {
	var findings []Finding
	switch {
	case w.Binding == nil:
	case !w.Binding.DeletionTimestamp.IsZero():
		findings = append(findings, *found(BindingDeleting, RefreshBinding, w.Binding,
			fmt.Sprintf("Karmada has not deleted the ResourceBinding of %s; retrying", object)).begunAt(w.Binding.DeletionTimestamp.Time))
	case !object.exists():
		findings = append(findings, *found(CopyGone, DeleteBinding, w.Binding,
			fmt.Sprintf("%s of the ResourceBinding no longer exists; the add-on deletes the ResourceBinding and its objects in cells", object)))
	}
	for _, cell := range slices.Sorted(maps.Keys(w.Works)) {
		switch work := w.Works[cell]; {
		case !work.DeletionTimestamp.IsZero() && w.Cells.Ready(cell):
			findings = append(findings, *w.workDeleting(object, cell, work))
		case work.DeletionTimestamp.IsZero() && !object.exists() && w.Binding == nil:
			findings = append(findings, *found(CopyGone, DeleteWork, work,
				fmt.Sprintf("%s of the Work no longer exists; the add-on deletes the Work and its objects in the cell", object)).inCell(cell))
		}
	}
	return findings
}

// deployment is the copy of a deployment as a carried object.
type deployment struct{ *Row }

func (deployment) String() string { return "the deployment" }

func (d deployment) exists() bool { return d.Copied != nil }

func (d deployment) away(cell string) *Finding { return d.reach(cell) }

func (d deployment) unbound() *Finding {
	return found(BindingMissing, TouchCopy, d.Copied,
		"Karmada has no ResourceBinding for the deployment; the add-on touches the hub's copy so that Karmada creates one")
}

func (d deployment) misbound() *Finding {
	switch {
	case !d.owned() && d.ofAnotherWorkload():
		return found(BindingOwnerGone, DeleteBinding, d.Binding,
			"the ResourceBinding and the running Instances belong to an earlier Workload of this name; the add-on deletes them")
	case !d.owned():
		return found(BindingOwnerGone, AdoptBinding, d.Binding,
			"the ResourceBinding belongs to an earlier copy of the deployment, so Karmada does not change it; the add-on makes "+
				"the current copy its owner")
	case d.unscheduled():
		return found(NotScheduled, RefreshBinding, d.Binding, "Karmada has neither scheduled the deployment nor reported a reason; rescheduling")
	}
	return nil
}

func (d deployment) outdated(cell string, work *workv1alpha1.Work) *Finding {
	m, _ := manifestOf(work)
	generation := m.templateGeneration()
	switch {
	case m.Metadata.Annotations.TemplateUID != string(d.Copied.UID) || generation < d.Copied.Generation:
		return found(WorkOutdated, RefreshBinding, d.Binding, fmt.Sprintf(
			"Karmada has not sent generation %d of the hub's copy to the cell; its Work has generation %d", d.Copied.Generation,
			generation)).inCell(cell)
	case generation == d.Copied.Generation && m.Spec != digestOf(&d.Copied.Spec) && !overridden(work):
		return found(WorkEdited, RefreshBinding, d.Binding, "the Work differs from the hub's copy: it was edited by hand; retrying").inCell(cell)
	}
	return nil
}

func (d deployment) report(cell string, work *workv1alpha1.Work) *Finding {
	m, _ := manifestOf(work)
	reported := report(work)
	switch {
	case reported == nil:
		return found(ReportMissing, TouchCopy, d.Copied, "the cell does not report on the deployment").inCell(cell)
	case reported.ResourceTemplateGeneration < m.templateGeneration():
		return found(ReportOutdated, ToggleWork, work,
			fmt.Sprintf("the cell reports on generation %d of the hub's copy; its Work has generation %d",
				reported.ResourceTemplateGeneration, m.templateGeneration())).inCell(cell)
	case reported.ObservedGeneration < reported.Generation:
		return &Finding{
			Fault: ReportOutdated, Cell: cell,
			Message: "the agent of the cell has not acted on the newest generation; see Deployment karmada-compute-cell in the cell",
		}
	case reported.LacksFields() && overridden(work):
		return &Finding{
			Fault: WorkNotApplied, Cell: cell,
			Message: fmt.Sprintf("the cell starts nothing new: override policy %s changes fields of the deployment that the hub counts on; "+
				"see condition SpecReceived of the deployment", strings.Join(OverridesOf(work), ", ")),
		}
	case reported.LacksFields():
		return found(WorkNotApplied, ToggleWork, work,
			"the CRD or the agent of the cell is older than the hub and lacks fields of the deployment; sending it again").inCell(cell)
	}
	return nil
}

// slice is an InstanceSlice as a carried object.
type slice struct{ *Row }

func (s slice) String() string { return v1alpha.KindInstanceSlice + " " + s.Slice.Name }

func (s slice) exists() bool { return s.Slice.Object != nil }

// away is nil: the deployment's own path shows cells that do not answer.
func (slice) away(string) *Finding { return nil }

// targets are the cells of the deployment: Karmada sends its slices there.
func (s slice) targets() []string { return s.Slice.Deployment.targets() }

func (s slice) unbound() *Finding {
	return found(BindingMissing, RefreshBinding, s.Slice.Deployment.Binding, fmt.Sprintf("Karmada has no ResourceBinding for %s; retrying", s))
}

func (s slice) misbound() *Finding {
	if owner := controllerOf(s.Binding); owner == "" || owner == s.Slice.Object.UID {
		return nil
	}
	return found(BindingOwnerGone, DeleteBinding, s.Binding,
		fmt.Sprintf("the ResourceBinding belongs to an earlier %s; the add-on deletes it so that Karmada creates another one", s))
}

// outdated is nil: the cell fills a slice, and the hub changes no field of it.
func (slice) outdated(string, *workv1alpha1.Work) *Finding { return nil }

func (s slice) report(cell string, work *workv1alpha1.Work) *Finding {
	if _, reported := sliceReport(cell, work); !reported {
		return found(ReportMissing, ToggleWork, work, fmt.Sprintf("the cell does not report in %s", s)).inCell(cell)
	}
	return nil
}
