// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
)

// step takes one action. It returns what is violated.
func (w *world) step() error {
	if w.plain {
		return w.stepBudget()
	}
	if err := w.stepData(); err != nil {
		return err
	}
	w.stepPolicies()
	c := w.anyCell()
	switch n := w.IntN(100); {
	case n < 25:
		if err := w.reconcile(); err != nil {
			return err
		}
	case n < 40:
		w.refresh()
	case n < 62:
		w.deliver(c)
	case n < 76:
		if err := w.actAll(); err != nil {
			return err
		}
	case n < 84:
		w.start(c)
	case n < 86:
		w.consume(n)
	case n < 94:
		w.disturb(c)
	case n < 96:
		w.interrupt(c)
	case n < 98:
		w.settle()
	default:
		w.reconnect()
	}
	return cmp.Or(w.opened, w.foresee())
}

// consume is a change of the Workload.
func (w *world) consume(n int) {
	if n == 85 && w.sizes && w.IntN(2) == 0 {
		w.resize()
		return
	}
	if w.policies == nil || w.policies.IntN(4) == 0 {
		w.change()
	}
}

// reconnect ends all interruptions.
func (w *world) reconnect() {
	w.suspended = false
	for _, name := range names(w.cells) {
		c := w.cells[name]
		c.cut, c.lost = c.vanished, c.vanished
	}
}

// interrupt suspends the project or resumes it, or cuts a cell off or connects it.
func (w *world) interrupt(c *cell) {
	if w.suspends && w.IntN(2) == 0 {
		w.suspended = !w.suspended && w.IntN(3) == 0
		return
	}
	c.cut = !c.cut && w.IntN(2) == 0
	c.lost = c.cut && !w.quiet && w.IntN(3) == 0
}

func (w *world) actAll() error {
	for _, name := range names(w.cells) {
		if w.cells[name].suspended {
			continue
		}
		if err := w.act(w.cells[name]); err != nil {
			return err
		}
	}
	return nil
}

// change is a new template, an undo, a pause or its end, or another minimum.
func (w *world) change() {
	next := w.workload.value
	switch w.versions++; w.IntN(8) {
	case 0:
		next.undo(w)
	case 1:
		next.target = fmt.Sprintf("broken-%d", w.versions)
	case 2:
		next.minimum = w.anyMinimum()
		w.inForce = min(w.inForce, next.minimum)
	case 3, 4:
		if next.paused = !next.paused; next.paused {
			w.pauses++
		}
	default:
		next.target = fmt.Sprintf("good-%d", w.versions)
	}
	w.workload = stored[workload]{value: next, version: w.workload.version + 1}
}

// disturb lets an Instance fail, or cordons a node, often instead of others.
func (w *world) disturb(c *cell) {
	if w.quiet {
		return
	}
	if len(c.indices) == 0 {
		return
	}
	index := c.indices[w.IntN(len(c.indices))]
	one := c.instances[index]
	switch {
	case one == nil:
	case w.IntN(4) > 0:
		// Tokens move most between cells whose nodes are cordoned and uncordoned.
		if w.IntN(2) == 0 {
			for _, other := range w.cells {
				clear(other.drained)
			}
		}
		c.drained[index] = true
	case one.available:
		c.fail(index)
	}
}

// start lets Instances of good templates become Available, whose failures have healed.
func (w *world) start(c *cell) {
	for _, index := range c.indices {
		one := c.instances[index]
		if one == nil || one.available || isBroken(one.template+one.policy) || one.template == w.rotten {
			continue
		}
		if !c.lost && !c.suspended && w.IntN(2) == 0 {
			one.available = true
			delete(c.fresh, index)
			delete(c.excused, index)
		}
	}
}
