// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"testing"
	"time"
)

// TestHealth: a city is lost only when all of its cells could have answered, and nothing is known while no cell of the hub is reached.
func TestHealth(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cell := func(name, city string, change func(*Cell)) Cell {
		result := Cell{Name: name, City: city, Ready: true, Since: now.Add(-time.Hour)}
		change(&result)
		return result
	}
	ready := func(*Cell) {}
	lost := func(c *Cell) { c.Ready, c.Since = false, now.Add(-time.Second) }
	cordoned := func(c *Cell) { c.Cordoned = true }
	tainted := func(c *Cell) { c.Tainted = true }
	silent := func(c *Cell) { c.Agent.Down = true }
	forgotten := func(c *Cell) { c.Ready, c.Gone = false, true }
	other := cell("other", "ord", ready)
	for name, test := range map[string]struct {
		cells Cells
		want  Health
	}{
		"ready":                            {Cells{cell("a", "dfw", ready), other}, Able},
		"one of two is ready":              {Cells{cell("a", "dfw", lost), cell("b", "dfw", ready)}, Able},
		"lost":                             {Cells{cell("a", "dfw", lost), other}, Lost},
		"no cell of the hub is reached":    {Cells{cell("a", "dfw", lost), cell("other", "ord", lost)}, InDoubt},
		"cells are reached since a moment": {Cells{cell("a", "dfw", lost), cell("other", "ord", func(c *Cell) { c.Since = now })}, InDoubt},
		"its agent does not run":           {Cells{cell("a", "dfw", silent), other}, InDoubt},
		"one is lost, and one in doubt":    {Cells{cell("a", "dfw", lost), cell("b", "dfw", silent), other}, InDoubt},
		"cordoned":                         {Cells{cell("a", "dfw", cordoned), other}, Closed},
		"tainted":                          {Cells{cell("a", "dfw", tainted), other}, Closed},
		"one is lost, and one cordoned":    {Cells{cell("a", "dfw", lost), cell("b", "dfw", cordoned), other}, Closed},
		"no cell":                          {Cells{other}, Empty},
		"its cell is forgotten":            {Cells{cell("a", "dfw", forgotten), other}, Empty},
		"no cell at all: nothing is known": {nil, InDoubt},
	} {
		if got := test.cells.Health("DFW", now); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestHeld: one cell holds its city, and no other.
func TestHeld(t *testing.T) {
	all := Cells{
		{Name: "a", City: "dfw"},
		{Name: "b", City: "dfw", Held: true},
		{Name: "c", City: "ord"},
		{Name: "d", City: "sea", Held: true, Gone: true},
	}
	if !all.Held("DFW") || all.Held("ORD") || all.Held("SEA") {
		t.Error("other cities than DFW are held")
	}
}
