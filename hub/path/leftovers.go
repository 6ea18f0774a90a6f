// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"maps"
	"slices"
)

// deleting are the Works and the binding of a copy that is being deleted.
func (w *Row) deleting() []Finding {
	if w.Karmada.Down {
		return nil
	}
	return w.stuck()
}

// leftovers are the Works and the binding of a copy that does not exist. Whether they may be deleted is asked live.
func (w *Row) leftovers() []Finding {
	if w.Karmada.Down {
		return nil
	}
	findings := w.stuck()
	if w.Binding != nil && w.Binding.DeletionTimestamp.IsZero() {
		findings = append(findings, Finding{
			Fault: CopyGone, Repair: DeleteBinding, Object: w.Binding,
			Message: "the ResourceBinding is left of a deployment that does not exist; it is deleted, with what runs",
		})
	}
	for _, cell := range slices.Sorted(maps.Keys(w.Works)) {
		if work := w.Works[cell]; work.DeletionTimestamp.IsZero() && w.Binding == nil {
			findings = append(findings, Finding{
				Fault: CopyGone, Cell: cell, Repair: DeleteWork, Object: work,
				Message: "the Work is left of a deployment that does not exist; it is deleted, with what runs",
			})
		}
	}
	return findings
}

// stuck are the deletions that do not end.
func (w *Row) stuck() []Finding {
	var findings []Finding
	if w.Binding != nil && !w.Binding.DeletionTimestamp.IsZero() {
		findings = append(findings, Finding{
			Fault: BindingDeleting, Repair: RefreshBinding, Object: w.Binding, Since: w.Binding.DeletionTimestamp.Time,
			Message: "Karmada is to delete the ResourceBinding and does not",
		})
	}
	for _, cell := range slices.Sorted(maps.Keys(w.Works)) {
		if work := w.Works[cell]; !work.DeletionTimestamp.IsZero() && w.Cells.Ready(cell) {
			findings = append(findings, Finding{
				Fault: WorkDeleting, Cell: cell, Since: w.readySince(cell, *work.DeletionTimestamp), Repair: ToggleWork, Object: work,
				Message: "Karmada is to remove the deployment from the cell and does not; it is made to look at the Work again",
			})
		}
	}
	return findings
}
