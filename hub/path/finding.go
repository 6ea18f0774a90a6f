// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// Fault names a fault on the path. It is a label of metrics.
type Fault string

// The faults, in the order in which they are shown: the first fault on the path hides its consequences.
const (
	// KarmadaNotRunning: no karmada-controller-manager is running.
	KarmadaNotRunning Fault = "KarmadaNotRunning"
	// BindingMissing: the copy has no ResourceBinding.
	BindingMissing Fault = "BindingMissing"
	// BindingOwnerGone: the ResourceBinding belongs to an earlier copy of the name, and Karmada refuses to change it.
	BindingOwnerGone Fault = "BindingOwnerGone"
	// BindingDeleting: the ResourceBinding is being deleted while its copy exists.
	BindingDeleting Fault = "BindingDeleting"
	// NotScheduled: Karmada's scheduler has neither chosen cells for the ResourceBinding nor reported a reason.
	NotScheduled Fault = "NotScheduled"
	// CellNotReady: Karmada does not reach the cell.
	CellNotReady Fault = "CellNotReady"
	// AgentNotReady: the agent of the cell does not run.
	AgentNotReady Fault = "AgentNotReady"
	// WorkMissing: the binding names a cell for which there is no Work.
	WorkMissing Fault = "WorkMissing"
	// WorkDeleting: a Work is being deleted although its cell is Ready.
	WorkDeleting Fault = "WorkDeleting"
	// WorkOutdated: a Work is based on an earlier copy.
	WorkOutdated Fault = "WorkOutdated"
	// OverrideNotApplied: a Work is missing or outdated because Karmada cannot apply an override policy. Judge does not find it.
	OverrideNotApplied Fault = "OverrideNotApplied"
	// WorkEdited: a Work carries another spec than the copy that it is based on.
	WorkEdited Fault = "WorkEdited"
	// WorkNotApplied: Karmada could not write the deployment into the cell.
	WorkNotApplied Fault = "WorkNotApplied"
	// ReportMissing: a cell has no report of the deployment.
	ReportMissing Fault = "ReportMissing"
	// ReportOutdated: a cell reports on an earlier copy than the one in its Work, or its agent has not acted on the
	// copy.
	ReportOutdated Fault = "ReportOutdated"
	// DivisionOutdated: Karmada divides another number of Instances among the cells than the copy requests.
	DivisionOutdated Fault = "DivisionOutdated"
	// AssignmentOutdated: the copy assigns its cells other numbers of Instances than Karmada divides.
	AssignmentOutdated Fault = "AssignmentOutdated"
	// WorkOrphaned: a Work is for a cell that the binding does not name.
	WorkOrphaned Fault = "WorkOrphaned"
	// CopyMissing: the hub has no copy of a deployment.
	CopyMissing Fault = "CopyMissing"
	// CopyGone: a ResourceBinding or a Work is left over from a copy that does not exist.
	CopyGone Fault = "CopyGone"
)

// Reason returns the reason of StatusCurrent, or "" for a fault that does not invalidate the reported status.
func (f Fault) Reason() string {
	return map[Fault]string{
		KarmadaNotRunning: v1alpha.ReasonKarmadaNotRunning,
		BindingMissing:    v1alpha.ReasonNotBound, BindingOwnerGone: v1alpha.ReasonNotBound, BindingDeleting: v1alpha.ReasonNotBound,
		NotScheduled: v1alpha.ReasonNotBound,
		CellNotReady: v1alpha.ReasonCellNotReady, AgentNotReady: v1alpha.ReasonAgentNotReady,
		WorkMissing: v1alpha.ReasonNotApplied, WorkDeleting: v1alpha.ReasonNotApplied, WorkEdited: v1alpha.ReasonNotApplied,
		WorkNotApplied: v1alpha.ReasonNotApplied,
		WorkOutdated:   v1alpha.ReasonReportOutdated, ReportOutdated: v1alpha.ReasonReportOutdated,
		ReportMissing: v1alpha.ReasonNoReport, CopyMissing: v1alpha.ReasonNotPropagated,
		OverrideNotApplied: v1alpha.ReasonOverrideNotApplied,
	}[f]
}

// Repair is the smallest change that triggers a Karmada reconcile of an object. docs/decisions/path.md describes
// how each was found.
type Repair int

// The repairs.
const (
	// NoRepair: Karmada continues by itself as soon as it can, or no change on the hub helps.
	NoRepair Repair = iota
	// TouchCopy annotates the copy: Karmada propagates the copy to the cells again.
	TouchCopy
	// RefreshBinding records the present copy in the binding's spec.resource: Karmada recreates its Works.
	RefreshBinding
	// AdoptBinding transfers the binding, with its running Instances, to the present copy.
	AdoptBinding
	// DeleteBinding deletes the binding: its objects in the cells belong to something else.
	DeleteBinding
	// ToggleWork sets spec.suspendDispatching from false to nil or back, which mean the same: Karmada applies the Work
	// again.
	ToggleWork
	// DeleteWork deletes the Work.
	DeleteWork
)

// Finding is one fault on a path.
type Finding struct {
	// Fault is the kind of the fault.
	Fault Fault
	// Cell is the affected cell; "": all.
	Cell string
	// Slice is the name of the affected InstanceSlice; "": the deployment itself is affected.
	Slice string
	// Message describes the fault and, if the add-on cannot repair it, the remedy.
	Message string
	// Since is when the fault began, if the hub knows that; else zero.
	Since time.Time
	// Certain findings were debounced by Karmada or the add-on already, and count at once.
	Certain bool
	// Repair is the change to Object.
	Repair Repair
	// Object is the object to repair. It may be from a cache.
	Object client.Object
}

// found returns a finding whose repair changes an object.
func found(fault Fault, repair Repair, object client.Object, message string) *Finding {
	return &Finding{Fault: fault, Repair: repair, Object: object, Message: message}
}

// inCell returns the finding as one in a cell.
func (f *Finding) inCell(cell string) *Finding {
	f.Cell = cell
	return f
}

// begunAt returns the finding with the time when the fault began.
func (f *Finding) begunAt(since time.Time) *Finding {
	f.Since = since
	return f
}

// Key identifies the finding among the findings of one deployment.
func (f *Finding) Key() Key { return Key{f.Fault, f.Cell, f.Slice} }

// Key is a fault in a cell, of a deployment or a slice.
type Key struct {
	// Fault is the kind of the fault.
	Fault Fault
	// Cell is the affected cell; "": all.
	Cell string
	// Slice is the affected slice; "": the deployment itself.
	Slice string
}

// Row holds the hub's objects on the path of one carried object: of a deployment, or of one of its slices.
type Row struct {
	// Subject is the deployment.
	Subject
	// Slice is the slice; nil: the path is the deployment's own.
	Slice *Slice
	// Binding is the ResourceBinding of the object, or of an earlier one; nil: none exists.
	Binding *workv1alpha2.ResourceBinding
	// Works are the Works of the object, by cell.
	Works map[string]*workv1alpha1.Work
	// Cells are the Clusters of the hub.
	Cells cells.Cells
	// Obstacle is why the hub has no copy of the original; nil: it has one, or needs none.
	Obstacle *Finding
}
