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

// Fault names what is wrong. It is a label of metrics.
type Fault string

// The faults, in the order in which they are shown: the first on the way hides those that follow from it.
const (
	// KarmadaNotRunning: no karmada-controller-manager is at work.
	KarmadaNotRunning Fault = "KarmadaNotRunning"
	// BindingMissing: the copy has no ResourceBinding.
	BindingMissing Fault = "BindingMissing"
	// BindingOwnerGone: the ResourceBinding belongs to an earlier copy of the name, and Karmada refuses to change it.
	BindingOwnerGone Fault = "BindingOwnerGone"
	// BindingDeleting: the ResourceBinding is being deleted while its copy exists.
	BindingDeleting Fault = "BindingDeleting"
	// NotScheduled: Karmada's scheduler has neither chosen cells for the ResourceBinding nor said why not.
	NotScheduled Fault = "NotScheduled"
	// CellNotReady: Karmada does not reach the cell.
	CellNotReady Fault = "CellNotReady"
	// AgentNotReady: the agent of the cell does not run.
	AgentNotReady Fault = "AgentNotReady"
	// WorkMissing: the binding names a cell for which there is no Work.
	WorkMissing Fault = "WorkMissing"
	// WorkDeleting: a Work is being deleted although its cell is Ready.
	WorkDeleting Fault = "WorkDeleting"
	// WorkOutdated: a Work was made from an earlier copy.
	WorkOutdated Fault = "WorkOutdated"
	// WorkEdited: a Work carries another spec than the copy that it was made from.
	WorkEdited Fault = "WorkEdited"
	// WorkNotApplied: Karmada could not write the deployment into the cell.
	WorkNotApplied Fault = "WorkNotApplied"
	// ReportMissing: a cell reports nothing of the deployment.
	ReportMissing Fault = "ReportMissing"
	// ReportOutdated: a cell reports on an earlier copy than its Work is made from, or its agent has not acted on it.
	ReportOutdated Fault = "ReportOutdated"
	// StatusOutdated: Karmada has not collected what a cell reports.
	StatusOutdated Fault = "StatusOutdated"
	// DivisionOutdated: Karmada divides another number of Instances among the cells than the copy says.
	DivisionOutdated Fault = "DivisionOutdated"
	// AssignmentOutdated: the copy assigns its cells other numbers of Instances than Karmada divides.
	AssignmentOutdated Fault = "AssignmentOutdated"
	// WorkOrphaned: a Work is for a cell that the binding does not name.
	WorkOrphaned Fault = "WorkOrphaned"
	// CopyMissing: the hub has no copy of a deployment.
	CopyMissing Fault = "CopyMissing"
	// CopyGone: a ResourceBinding or a Work is left of a copy that does not exist.
	CopyGone Fault = "CopyGone"
)

// Reason is the reason of StatusCurrent, or "" for a fault that makes nothing untrue that is shown.
func (f Fault) Reason() string {
	return map[Fault]string{
		KarmadaNotRunning: v1alpha.ReasonKarmadaNotRunning,
		BindingMissing:    v1alpha.ReasonNotBound, BindingOwnerGone: v1alpha.ReasonNotBound, BindingDeleting: v1alpha.ReasonNotBound,
		NotScheduled: v1alpha.ReasonNotBound,
		CellNotReady: v1alpha.ReasonCellNotReady, AgentNotReady: v1alpha.ReasonAgentNotReady,
		WorkMissing: v1alpha.ReasonNotApplied, WorkDeleting: v1alpha.ReasonNotApplied, WorkEdited: v1alpha.ReasonNotApplied, WorkNotApplied: v1alpha.ReasonNotApplied,
		WorkOutdated: v1alpha.ReasonReportOutdated, ReportOutdated: v1alpha.ReasonReportOutdated, StatusOutdated: v1alpha.ReasonReportOutdated,
		ReportMissing: v1alpha.ReasonNoReport, CopyMissing: v1alpha.ReasonNotPropagated,
	}[f]
}

// Repair is the smallest change by which Karmada reconciles an object again. docs/decisions/0021-audit.md says how each was found.
type Repair int

// The repairs.
const (
	// NoRepair: Karmada goes on by itself as soon as it can, or nothing on the hub helps.
	NoRepair Repair = iota
	// TouchCopy annotates the copy: Karmada takes it all the way to the cells again.
	TouchCopy
	// RefreshBinding records the present copy in the binding's spec.resource: Karmada makes its Works and collects its status anew.
	RefreshBinding
	// AdoptBinding gives the binding, with what runs, to the present copy.
	AdoptBinding
	// DeleteBinding deletes the binding: what it has in the cells belongs to something else.
	DeleteBinding
	// ToggleWork sets spec.suspendDispatching from false to nothing or back, which means the same: Karmada carries the Work out again.
	ToggleWork
	// DeleteWork deletes the Work.
	DeleteWork
)

// Finding is one thing that is wrong.
type Finding struct {
	// Fault is what it is.
	Fault Fault
	// Cell that is concerned; "": all.
	Cell string
	// Slice is the name of the InstanceSlice that is concerned; "": it is the deployment itself.
	Slice string
	// Message says what is wrong and, where the add-on cannot do it, what to do.
	Message string
	// Since is when it began, if the hub knows that; else zero.
	Since time.Time
	// Certain findings were debounced by Karmada or the add-on already, and count at once.
	Certain bool
	// Repair is done to Object.
	Repair Repair
	// Object is what is repaired. It may be of a cache.
	Object client.Object
}

// Key tells findings of one deployment apart.
func (f *Finding) Key() Key { return Key{f.Fault, f.Cell, f.Slice} }

// Key is a fault in a cell, of a deployment or a slice.
type Key struct {
	// Fault is what is wrong.
	Fault Fault
	// Cell that is concerned; "": all.
	Cell string
	// Slice that is concerned; "": the deployment itself.
	Slice string
}

// Row is what the hub knows of the path of one deployment.
type Row struct {
	Subject
	// Binding is the ResourceBinding of the copy, or of an earlier one; nil: there is none.
	Binding *workv1alpha2.ResourceBinding
	// Works are the Works of the deployment, by cell.
	Works map[string]*workv1alpha1.Work
	// Cells are the Clusters of the hub.
	Cells cells.Cells
	// Obstacle is why the hub has no copy of the original; nil: it has one, or needs none.
	Obstacle *Finding
}
