// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestCellsOfOtherCities: a reconcile of a deployment sends no more requests because the hub has more cells.
func TestCellsOfOtherCities(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	reads := func() int {
		t.Helper()
		f.Hub.Calls()
		if err := f.reconcile(t); err != nil {
			t.Fatal(err)
		}
		return len(f.Hub.Calls())
	}
	f.mustReconcile(t)
	before := reads()
	for range 5 {
		f.Cell(t, planes.City())
	}
	if after := reads(); after != before {
		t.Errorf("with more cells it sends %d requests to the hub, not %d", after, before)
	}
}
