// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// budgetMistakes are mistakes about the disruption budget. They are found where nothing rolls out.
var budgetMistakes = []string{
	"a floor is lowered without a guarantee", "a raised floor counts before it is confirmed", "what was sent before is forgotten",
	"a report from before the floor counts", "a confirmation with an earlier count", "a lost cell counts",
	"the last report of a lost cell counts when it returns", "recovery lets others be disrupted",
	"a minimum is reported before it is in force", "the floors inside a city do not matter",
	"a cell goes back to an earlier floor", "a floor goes back on its way", "a plan of a stale cache is stored",
	"floors are written before the plan", "a city is removed without a guarantee", "slack stays where an Instance recovers",
}

// addBudget makes one world in five a world of the budget alone: nothing rolls out, nodes are drained all the time, cells
// report counts that they invent, are lost although the hub reaches them, and vanish.
func (w *world) addBudget(seed uint64) {
	if w.plain = w.broken == "" && seed%5 == 4 || slices.Contains(budgetMistakes, w.broken); !w.plain {
		return
	}
	w.failures = w.IntN(2) == 0
	w.quiet, w.suspends, w.free, w.sizes = false, false, false, true
	w.data, w.workload.value.data, w.policies, w.maxSurge = nil, nil, nil, 0
}

// plainMinimum has most often some slack, and less than every city could use.
func (w *world) plainMinimum() int32 {
	switch w.IntN(8) {
	case 0:
		return int32(w.IntN(w.total() + 2))
	case 1, 2:
		// The others suffice while one cell is lost.
		return int32(max(0, w.total()-len(w.anyCell().indices)))
	}
	return int32(max(0, w.total()-1-w.IntN(3)))
}

// stepBudget takes one action in a world of the budget alone. It returns the violation.
func (w *world) stepBudget() error {
	c := w.anyCell()
	switch n := w.IntN(100); {
	case n < 25:
		if err := w.reconcileBudget(); err != nil {
			return err
		}
	case n < 45:
		w.refresh()
	case n < 68:
		w.deliver(c)
	case n < 80:
		if err := w.actAll(); err != nil {
			return err
		}
	case n < 94:
		w.unsettle(c)
	case n < 95:
		w.operate(c)
	case n < 97:
		w.cutOff(c)
	default:
		w.settle()
		w.reconnect()
	}
	return cmp.Or(w.opened, w.foresee())
}

func (w *world) reconcileBudget() error {
	r, city := w.anyReplica(), w.anyCity()
	if r == w.replicas[0] && w.IntN(2) == 0 {
		w.refreshAll(r)
	}
	switch w.IntN(7) {
	case 0, 1:
		w.divideWorkload(r)
	case 2, 3:
		w.propagate(r, city)
	case 4, 5:
		w.project(r, city)
	case 6:
		return w.resizeCities(r)
	}
	return nil
}

// unsettle lets Instances start, one fail, or nodes be cordoned, and a cell invent a sequence.
func (w *world) unsettle(c *cell) {
	if len(c.indices) == 0 {
		return
	}
	if w.IntN(40) == 0 {
		// Far from every sequence of the hub, so that it is not by chance the one of a floor that the cell does not apply.
		c.invented = []int64{0, 0, -1, 1 << (20 + w.IntN(43)), budget.MaxSequence + 1}[w.IntN(5)]
	}
	index := c.indices[w.IntN(len(c.indices))]
	switch one := c.instances[index]; {
	case one == nil || !one.available:
		w.start(c)
	case w.failures && w.IntN(4) == 0:
		c.fail(index)
	default:
		// Tokens move most between cells whose nodes are cordoned and uncordoned.
		if w.IntN(2) == 0 {
			for _, other := range w.cells {
				clear(other.drained)
			}
		}
		for _, index := range c.indices[:w.IntN(len(c.indices)+1)] {
			c.drained[index] = true
		}
	}
}

// fail lets an Instance fail, which the hub does not know yet.
func (c *cell) fail(index int) {
	if one := c.instances[index]; one != nil && one.available {
		one.available, c.fresh[index], c.excused[index] = false, true, true
	}
}

// operate is an action of an operator or a consumer: another minimum, other cities, a cell that is lost for good.
func (w *world) operate(c *cell) {
	switch w.IntN(6) {
	case 0:
		w.workload.value.minimum = w.plainMinimum()
		w.inForce = min(w.inForce, w.workload.value.minimum)
		w.workload.version++
	case 1, 2:
		w.resize()
	case 3:
		if w.failures && w.IntN(3) == 0 {
			c.cut, c.lost, c.vanished = true, true, true
			for _, index := range c.indices {
				c.fail(index)
			}
		}
	}
}

// cutOff cuts a cell off or connects it. Instances of a lost cell often fail. A clock that is ahead finds a cell lost that
// is not.
func (w *world) cutOff(c *cell) {
	if c.vanished {
		return
	}
	c.cut = !c.cut && w.IntN(3) > 0
	c.lost = c.cut && w.IntN(2) == 0 || w.IntN(8) == 0
	for _, index := range c.indices {
		if c.cut && c.lost && w.failures && w.IntN(2) == 0 {
			c.fail(index)
		}
	}
}

// endBudget heals everything and asks each cell to disrupt each of its Instances once.
func (w *world) endBudget() error {
	w.settle()
	repeated := w.writes
	if w.settle(); w.writes > repeated {
		return fmt.Errorf("%d more writes because of reports that do not change", w.writes-repeated)
	}
	w.workload.value.leaving = nil
	w.workload.version++
	w.settle()
	for _, c := range w.cells {
		c.cut, c.lost, c.vanished, c.invented = false, false, false, 0
		clear(c.drained)
	}
	w.settle()
	w.heal()
	before := w.writes
	w.settle()
	// The Workload and each city raise floors, lower others once these are confirmed, and lower more once cities have
	// confirmed theirs.
	if most := 4 * (1 + len(w.deployments)); w.writes > before+most {
		return fmt.Errorf("%d writes until everything has settled, and not %d", w.writes-before, most)
	}
	if err := w.level(); err != nil || int(w.workload.value.minimum) >= w.total() {
		return err
	}
	return w.drain()
}

// heal makes every Instance Available.
func (w *world) heal() {
	for _, c := range w.cells {
		clear(c.instances)
		clear(c.fresh)
		for _, index := range c.indices {
			c.instances[index] = &instance{template: c.templateAt(index), available: true}
		}
	}
}

// drain drains all nodes of all cells.
func (w *world) drain() error {
	for _, c := range w.cells {
		for _, index := range c.indices {
			c.drained[index] = true
		}
	}
	for range 30 + 4*w.total() {
		w.settle()
		if err := w.actAll(); err != nil {
			return err
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(w.cells)), func(c *cell) bool { return len(c.drained) > 0 }) {
			return nil
		}
		w.settle()
		w.heal()
	}
	return fmt.Errorf("cells wait for disruptions forever: %+v", w.dump())
}

// level finds faults of a federation in which all Instances are Available, none awaits a disruption and no message is in
// flight: writes that do not end, or slack that one member has and another one lacks.
func (w *world) level() error {
	before := w.writes
	if w.settle(); w.writes > before {
		return fmt.Errorf("a federation where nothing happens has %d more writes", w.writes-before)
	}
	var cities []int32
	for _, city := range names(w.deployments) {
		floor, desired := w.workload.value.plan[city], int32(w.deployments[city].value.spec.replicas)
		cities = append(cities, max(0, desired-floor.MinAvailable), desired)
		var cells []int32
		for _, name := range names(w.copies[city].value.cells) {
			desired := int32(len(w.cells[name].indices))
			cells = append(cells, max(0, desired-w.cells[name].floor.MinAvailable), desired)
		}
		if !even(cells) {
			return fmt.Errorf("the slack and the Instances of the cells of %s are %d", city, cells)
		}
	}
	if !even(cities) {
		return fmt.Errorf("the slack and the Instances of the cities are %d", cities)
	}
	return nil
}

// even reports whether members have as much slack as each other to within one, or as they have Instances. all has slack
// and Instances of each.
func even(all []int32) bool {
	for i := 0; i < len(all); i += 2 {
		for j := 0; j < len(all); j += 2 {
			if all[i] < all[i+1] && all[j] > all[i]+1 {
				return false
			}
		}
	}
	return true
}

// misreadReturn lets the last report of a lost cell count when the cell returns, as a hub with a mistake does.
func misreadReturn(m *budget.Member) {
	if m.Lost || m.Floor == nil || m.Floor.Pending == nil || m.Floor.Pending.Confirmed <= m.Floor.Sequence {
		return
	}
	floor, pending := *m.Floor, *m.Floor.Pending
	pending.Confirmed = min(floor.Sequence, m.Sequence)
	floor.Pending = &pending
	m.Floor = &floor
}

// known is how many Instances of members are Available, as far as the hub knows.
func known(members []budget.Member) (available int32) {
	for i := range members {
		if !members[i].Lost {
			available += max(0, members[i].Available)
		}
	}
	return available
}

// TestModelFindsMistakesOfTheBudget: each rule of the protocol matters.
func TestModelFindsMistakesOfTheBudget(t *testing.T) {
	t.Parallel()
	for _, mistake := range budgetMistakes {
		if mistake == "a confirmation with an earlier count" || mistake == "the last report of a lost cell counts when it returns" {
			continue // TestLongMistakes has them
		}
		t.Run(mistake, func(t *testing.T) { t.Parallel(); find(t, mistake) })
	}
}
