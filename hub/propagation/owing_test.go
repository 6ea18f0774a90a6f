// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestARemovalIsTakenOver: the inventory is removing an earlier namespace from the cell when the next Workload arrives.
// The Work of the removal becomes the Work of the new namespace if it is not being deleted yet; otherwise its deletion
// is waited for.
func TestARemovalIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, deleted := range map[string]bool{"before its deletion": false, "in deletion": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			removal := f.workIn(f.cell)
			removal.Labels = map[string]string{v1alpha.LabelInventory: v1alpha.InventoryRemoval, v1alpha.LabelHubNamespace: f.HubNamespace}
			removal.Finalizers = []string{cells.ExecutionFinalizer}
			removal.Spec.SuspendDispatching = new(true)
			planes.Create(t, f.Planes, removal)
			if deleted {
				planes.Delete(t, f.Planes, removal)
			}
			f.mustReconcile(t, "web")
			if got := !planes.Exists(t, f.Planes, f.copied()); got != deleted {
				t.Errorf("the deployment waits: %t", got)
			}
			work := read(t, f, f.workIn(f.cell))
			if suspended := work.Spec.SuspendDispatching; !deleted && (*suspended || work.Labels[v1alpha.LabelHub] == "") {
				t.Errorf("Karmada does not bring the namespace: suspended %t, labels %v", *suspended, work.Labels)
			}
		})
	}
}

// TestACellThatOwesTheEndOfANamespace: the last Workload was deleted, and one of two cells has not removed the
// namespace when the next Workload arrives. Only that cell is waited for, and only while the other cell could not take
// the Instances or while the wait is short.
func TestACellThatOwesTheEndOfANamespace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		owing, other metav1.ConditionStatus
		// since is how long the cell has owed the removal.
		since    time.Duration
		wantWait bool
	}{
		"the cell is down":                      {owing: metav1.ConditionFalse, other: metav1.ConditionTrue},
		"the cell is down, and the other too":   {owing: metav1.ConditionFalse, other: metav1.ConditionFalse, wantWait: true},
		"the cell is Ready, and needs a moment": {owing: metav1.ConditionTrue, other: metav1.ConditionTrue, wantWait: true},
		"the cell is Ready, and takes too long": {
			owing: metav1.ConditionTrue, other: metav1.ConditionTrue, since: namespaceEnds,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			owing := f.Cell(t, f.city)
			f.mustReconcile(t, "web")
			planes.Delete(t, f.Planes, f.workIn(owing))
			planes.Delete(t, f.Planes, f.copied())
			deleted := read(t, f, f.workIn(owing)).DeletionTimestamp.Time
			f.clock.SetTime(deleted.Add(test.since))
			f.SetReady(t, owing, test.owing, metav1.Time{Time: deleted.Add(-time.Minute)})
			f.SetReady(t, f.cell, test.other, metav1.Time{Time: deleted.Add(-time.Minute)})

			f.mustReconcile(t, "web")
			if got := !planes.Exists(t, f.Planes, f.copied()); got != test.wantWait {
				t.Fatalf("the deployment waits: %t", got)
			}
			if test.wantWait {
				f.mustLookAgain(t, "web")
				return
			}
			excluded := func() []string { return f.excluded(t) }
			if !slices.Contains(excluded(), owing.Name) {
				t.Error("Karmada may choose the cell, which would delete the Instances with the earlier namespace")
			}
			if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
				t.Errorf("while the cell owes the end of the namespace, it writes %v", writes)
			}
			end(t, f, f.workIn(owing))
			f.mustReconcile(t, "web")
			if !planes.Exists(t, f.Planes, f.workIn(owing)) || slices.Contains(excluded(), owing.Name) {
				t.Error("after the end of the namespace the cell is not used again")
			}
		})
	}
}
