// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"maps"
	"slices"
)

// leftovers returns findings for the Works and the binding of a copy that does not exist or is being deleted: for deletions that do not
// end, and for objects of a copy that does not exist. The controller checks at the API servers whether these may be deleted.
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
