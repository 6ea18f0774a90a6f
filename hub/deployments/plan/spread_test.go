// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// recorded returns the record of the placement, such as "DFW ORD:Lost". A running city has no word for its phase.
func (f *fixture) recorded(t *testing.T) string {
	t.Helper()
	var words []string
	for _, c := range f.readWorkload(t).Status.RecordOf("main") {
		word := c.City
		if c.Phase != v1alpha.CityRunning {
			word += ":" + string(c.Phase)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// spread makes the cities of the Workload candidates, of which so many run.
func (f *fixture) spread(t *testing.T, count int32, cities string) {
	t.Helper()
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Placements[0].CityCodes = strings.Fields(cities)
		w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: count}
	})
}

// TestAChoiceStays: a recorded city stays chosen while it is a candidate, and the first candidates fill up.
func TestAChoiceStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD SEA")
	f.workload(t, "main SEA DFW ORD")
	f.spread(t, 2, "SEA DFW ORD")
	cell := f.cell()
	cell.settle(t)
	for _, step := range []struct {
		what, cities, locations, want string
		count                         int32
	}{
		{"another order", "ORD DFW SEA", "DFW ORD SEA", "SEA DFW", 2},
		{"a candidate is removed", "ORD DFW", "DFW ORD SEA", "DFW ORD", 2},
		{"fewer", "ORD DFW SEA", "DFW ORD SEA", "ORD", 1},
		{"its location is withdrawn", "ORD DFW SEA", "DFW SEA", "ORD", 1},
		{"more, and one that the project may not use", "ORD DFW SEA", "ORD SEA", "ORD SEA", 2},
		{"more than the project may use", "ORD DFW SEA", "ORD SEA", "ORD SEA", 3},
		{"it may use the last one", "ORD DFW SEA", "DFW ORD SEA", "ORD SEA DFW", 3},
	} {
		f.locations.cities = step.locations
		f.spread(t, step.count, step.cities)
		cell.settle(t)
		if got := f.recorded(t); got != step.want {
			t.Errorf("%s: the record is %q, want %q", step.what, got, step.want)
		}
	}
}

// TestSpreadIsAdded: a Workload that runs keeps the first candidates that run, and without spread all cities run again, without a record.
func TestSpreadIsAdded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD SEA")
	f.workload(t, "main ORD SEA")
	cell := f.cell()
	cell.settle(t)
	f.spread(t, 1, "DFW ORD SEA")
	cell.settle(t)
	f.withdraw(t)
	if got, names := f.recorded(t), f.names(t); got != "ORD" || names != "web-main-ord" {
		t.Errorf("the record is %s, and there are %s", got, names)
	}
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Placements[0].Spread = nil })
	cell.settle(t)
	if got, names := f.recorded(t), f.names(t); got != "" || names != "web-main-dfw web-main-ord web-main-sea" {
		t.Errorf("without spread the record is %s, and there are %s", got, names)
	}
}
