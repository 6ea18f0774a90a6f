// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

func (c *cell) available() (count int32) {
	for _, one := range c.instances {
		if one.available {
			count++
		}
	}
	return count
}

// unavailable is how many Instances are missing or not Available.
func (c *cell) unavailable() (count int) {
	for _, index := range c.indices {
		if one := c.instances[index]; one == nil || !one.available {
			count++
		}
	}
	return count
}

func (c *cell) below(index int) bool {
	return c.spec.partition.Keeps(index)
}

// templateAt is the template that a new Instance at an index gets.
func (c *cell) templateAt(index int) string {
	if c.below(index) {
		return c.spec.partition.Template
	}
	return c.spec.template
}

// outdated reports whether the Instance at an index must be replaced.
func (w *world) outdated(c *cell, index int) bool {
	one := c.instances[index]
	if one == nil || one.template == c.templateAt(index) {
		return false
	}
	return !c.below(index) || !one.available || w.broken == "healthy Instances are changed"
}

// mayDisrupt reports whether the floor of a cell lets it take an Available Instance down.
func (w *world) mayDisrupt(c *cell) bool {
	return c.floor != nil && c.available() > c.floor.MinAvailable
}

// act acts as an agent: it removes surplus Instances, releases drained ones, replaces outdated ones and creates missing ones.
func (w *world) act(c *cell) error {
	if err := w.removeSurplus(c); err != nil {
		return err
	}
	return w.replace(c)
}

// replace releases drained Instances, replaces outdated ones and creates missing ones.
func (w *world) replace(c *cell) error {
	unavailable, limit, turn := c.unavailable(), w.mostDown(c), w.turn(c)
	for _, index := range slices.Backward(c.indices) {
		one := c.instances[index]
		outdated := w.mustReplace(c, index, turn)
		switch {
		case one == nil:
		case !one.available && outdated:
			delete(c.instances, index)
			if !w.parallel {
				return w.create(c)
			}
		case !one.available || !c.drained[index] && (!outdated || unavailable >= limit):
		case !w.mayDisrupt(c) && (w.broken != "a cell replaces without its floor" || !outdated):
		default:
			c.excuse(index, outdated && unavailable < limit)
			unavailable++
			turn -= c.useTurn(index, outdated)
			if err := w.disrupt(c, index); err != nil {
				return err
			}
		}
	}
	return w.create(c)
}

// excuse notes an Instance that a drain takes down before its turn. The next one at its index has the template that the
// partition allows.
func (c *cell) excuse(index int, turn bool) {
	if c.drained[index] && !turn {
		c.excused[index] = true
	}
}

// mostDown is the number of Instances that an agent may take down at the same time.
func (w *world) mostDown(c *cell) int {
	if w.parallel && !c.spec.cautious {
		return room(len(c.indices))
	}
	return 1
}

// disrupt deletes an Available Instance.
func (w *world) disrupt(c *cell, index int) error {
	has, gets, target := c.instances[index].template, c.spec.template, w.workload.value.started()
	if has == target && gets == target && !c.drained[index] && !c.overridden(index) {
		return fmt.Errorf("%s replaces Available Instance %d, which has the target", c.name, index)
	}
	delete(c.instances, index)
	delete(c.drained, index)
	w.disruptions++
	return w.checkMinimum("a disruption in " + c.name)
}

// create creates missing Instances, some of them later.
func (w *world) create(c *cell) error {
	for _, index := range c.indices {
		if c.full && index >= c.spec.replicas {
			break
		}
		if c.instances[index] == nil && w.IntN(2) == 0 {
			c.instances[index] = &instance{template: c.templateAt(index), policy: c.policy, turned: c.turned[index]}
			delete(c.turned, index)
		}
		if one := c.instances[index]; !w.parallel && (one == nil || !one.available) {
			break
		}
	}
	return w.check()
}

func (w *world) report(c *cell) report {
	r := report{observed: c.spec.generation, template: c.spec.template, available: c.available(), override: c.override()}
	if c.floor != nil {
		r.sequence = c.floor.Sequence
	}
	if c.invented != 0 {
		r.sequence = c.invented
	}
	for _, index := range c.indices {
		if c.instances[index] == nil {
			r.missing++
		}
	}
	for _, index := range slices.Sorted(maps.Keys(c.instances)) {
		one := c.instances[index]
		if surplus := !slices.Contains(c.indices, index); surplus {
			if one.available {
				r.awaiting++
			}
			continue
		}
		r.instances = append(r.instances, rollout.Instance{Index: index, Updated: one.template == c.spec.template, Available: one.available})
		outdated := w.outdated(c, index) || c.overridden(index) && c.hasTurn()
		if one.available && (c.drained[index] || outdated && w.broken != "replacements do not await tokens") {
			r.awaiting++
		}
	}
	return r
}

// suspend stops all Instances of a cell whose project is suspended. That is no voluntary disruption: they count as
// failed.
func (c *cell) suspend(suspended bool) {
	if suspended {
		for index := range c.instances {
			c.fail(index)
		}
	}
	c.suspended = suspended
}

// receive writes into a cell as Karmada does: always the newest spec, while a floor may come from a stale cache or a
// restored hub.
func (w *world) receive(c *cell, message sent) {
	c.spec = w.copies[c.city].value.spec
	w.divideIndices(c)
	c.suspend(w.copies[c.city].value.suspended)
	if newest := budget.Newest(c.floor, &message.floor); w.broken != "a cell goes back to an earlier floor" && newest == c.floor {
		return
	}
	if w.broken == "a confirmation with an earlier count" {
		early := w.report(c)
		early.sequence, early.available = message.floor.Sequence, early.available+int32(c.unavailable())
		c.up = send(c.up, early)
	}
	c.floor = &message.floor
}

// deliver moves a message down or up: late, twice, out of order, or never.
func (w *world) deliver(c *cell) {
	onHub := w.copies[c.city].value
	if floor := onHub.cells[c.name]; floor != nil {
		c.down = send(c.down, sent{onHub.spec, *floor})
	}
	c.up = send(c.up, w.report(c))
	if c.cut || w.IntN(4) == 0 {
		return
	}
	if len(c.down) > 0 && w.IntN(2) == 0 {
		w.receive(c, c.down[len(c.down)-1-w.late(len(c.down))])
	}
	if arrived := c.up[len(c.up)-1-w.late(len(c.up))]; w.IntN(2) == 0 {
		w.writeCopy(c.city, func(copied *copied) { copied.reports[c.name] = arrived })
	}
}

// late is how many messages have overtaken the one that arrives.
func (w *world) late(sent int) int {
	switch w.IntN(6) {
	case 0:
		return sent - 1
	case 1, 2:
		return w.IntN(sent)
	}
	return 0
}

// send keeps the last messages of a direction.
func send[T any](messages []T, next T) []T {
	const most = 6
	if len(messages) == 0 || !reflect.DeepEqual(messages[len(messages)-1], next) {
		messages = append(messages, next)
	}
	return slices.Clone(messages[max(0, len(messages)-most):])
}

// checkMinimum compares what is Available, and what failures may hide from the hub, with the minimum in force.
func (w *world) checkMinimum(after string) error {
	var available int32
	for _, c := range w.cells {
		available += c.available()
	}
	return w.compare(after, available)
}

// foresee finds the violation of disruptions that the cells may make next, however long the hub hears nothing of them.
// Without it, the model finds a mistake only if a drain or a replacement needs these disruptions before the hub
// corrects it.
func (w *world) foresee() error {
	var available, least int32
	for _, c := range w.cells {
		available, least = available+c.available(), least+w.least(c)
	}
	if least == available {
		return nil
	}
	return w.compare("all disruptions that the cells may make", least)
}

// least is how many Instances stay Available in a cell that disrupts as many as it may, also by a floor in flight.
func (w *world) least(c *cell) int32 {
	least := c.available()
	if c.floor != nil {
		least = min(least, c.floor.MinAvailable)
	}
	onTheWay := c.down
	if floor := w.copies[c.city].value.cells[c.name]; floor != nil {
		onTheWay = append(slices.Clone(onTheWay), sent{floor: *floor})
	}
	for i := range onTheWay {
		if budget.Newest(c.floor, &onTheWay[i].floor) != c.floor {
			least = min(least, onTheWay[i].floor.MinAvailable)
		}
	}
	return least
}

func (w *world) compare(after string, available int32) error {
	var hidden int32
	for _, c := range w.cells {
		hidden += int32(len(c.fresh))
	}
	if available+hidden < w.inForce {
		return fmt.Errorf("after %s %d Instances are Available and %d have failed without the hub's knowledge; the minimum is %d",
			after, available, hidden, w.inForce)
	}
	return nil
}

// check compares the Instances with the rules of rollouts. Where a city has several cells and an Instance is
// unavailable already, one in each of them may be replaced at a time (docs/decisions/rollouts.md). The budget holds
// there, too.
func (w *world) check() error {
	broken, more := map[string]int{}, len(w.cells)-len(w.deployments)
	for _, c := range w.cells {
		for index, one := range c.instances {
			if isBroken(one.template) && one.template != w.first && !c.excused[index] {
				broken[one.template]++
			}
		}
	}
	for template, count := range broken {
		if count > 1+more {
			return fmt.Errorf("%d Instances have template %s", count, template)
		}
	}
	if err := cmp.Or(w.checkSurge(), w.checkTurns()); !w.quiet || err != nil {
		return err
	}
	if unavailable := w.lacking(); unavailable > w.limit()+more {
		return fmt.Errorf("%d of %d Instances are unavailable, and the rollout allows %d", unavailable, w.total(), w.limit())
	}
	return nil
}
