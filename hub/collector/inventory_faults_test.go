// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector_test

import (
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestInventoryWithAFault: a cell gets its Cell, a deployment that only the cell has is removed, and the Cell leaves
// with its city, whichever write fails.
func TestInventoryWithAFault(t *testing.T) {
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		f.Hub.Through(faults)
		pass := func() {
			t.Helper()
			faults.Reconcile(t, func() error { return f.inventory.Pass(t.Context()) })
		}
		pass()
		f.entries = []v1alpha.InventoryEntry{f.entry("stray", "copy-uid")}
		f.minutes(4)
		if !f.removed("stray") {
			t.Error("the deployment that only the cell has stays")
		}
		f.entries = nil
		f.minutes(2)
		planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) { delete(c.Labels, v1alpha.LabelTopologyCity) })
		pass()
		pass()
		work := planes.Get(t, f.Planes, f.cellWork().Namespace, f.cellWork().Name, &workv1alpha1.Work{})
		if work.DeletionTimestamp.IsZero() {
			t.Error("the Work of what is no cell any more stays")
		}
	})
}
