// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"maps"
	"slices"
)

// deleting returns findings for the Works and the binding of a copy that is being deleted.
func (w *Row) deleting() []Finding {
	if w.Karmada.Down {
		return nil
	}
	return w.stuck()
}

// leftovers returns findings for the Works and the binding of a copy that does not exist. The controller checks at the
// API servers whether they may be deleted.
func (w *Row) leftovers() []Finding {
	if w.Karmada.Down {
		return nil
	}
	findings := w.stuck()
	if w.Binding != nil && w.Binding.DeletionTimestamp.IsZero() {
		findings = append(findings, Finding{
			Fault: CopyGone, Repair: DeleteBinding, Object: w.Binding,
			Message: "the deployment of the ResourceBinding no longer exists; the add-on deletes the ResourceBinding and its Instances",
		})
	}
	for _, cell := range slices.Sorted(maps.Keys(w.Works)) {
		if work := w.Works[cell]; work.DeletionTimestamp.IsZero() && w.Binding == nil {
			findings = append(findings, Finding{
				Fault: CopyGone, Cell: cell, Repair: DeleteWork, Object: work,
				Message: "the deployment of the Work no longer exists; the add-on deletes the Work and its Instances",
			})
		}
	}
	return findings
}

// stuck returns findings for deletions that do not end.
func (w *Row) stuck() []Finding {
	var findings []Finding
	if w.Binding != nil && !w.Binding.DeletionTimestamp.IsZero() {
		findings = append(findings, Finding{
			Fault: BindingDeleting, Repair: RefreshBinding, Object: w.Binding, Since: w.Binding.DeletionTimestamp.Time,
			Message: "Karmada has not deleted the ResourceBinding; retrying",
		})
	}
	for _, cell := range slices.Sorted(maps.Keys(w.Works)) {
		if work := w.Works[cell]; !work.DeletionTimestamp.IsZero() && w.Cells.Ready(cell) {
			findings = append(findings, Finding{
				Fault: WorkDeleting, Cell: cell, Since: w.readySince(cell, *work.DeletionTimestamp), Repair: ToggleWork, Object: work,
				Message: "Karmada has not removed the deployment from the cell; retrying",
			})
		}
	}
	return findings
}
