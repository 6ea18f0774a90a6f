// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import "slices"

// repair finds out whether only the target helps. A disruption budget without slack lets cells replace no Available
// Instance, while it does not count the unavailable ones. If some of these wait for their turn, the city in progress
// would wait for them, and they for the city. Slack of the city where they are does not help: they may use up the
// cells' own limit, so that the cells keep it.
func (d *decision) repair() {
	waits, held := false, 0
	for i := range d.Cities {
		if c := &d.Cities[i]; d.waitsForRepair(c) {
			waits, held = true, held+c.Slack
		}
	}
	d.repairing = waits && (d.NoSlack || d.Slack > 0 && d.Slack <= held)
}

// waitsForRepair reports whether a city has unavailable Instances that have neither the target nor a turn.
func (d *decision) waitsForRepair(c *City) bool {
	if c.Unreachable || c.Cells == 0 {
		return false
	}
	worst, broken := highest(d.outdated(c), func(i Instance) bool { return !i.Available && !i.Held })
	switch d.stage(c) {
	case waiting:
		return broken
	case partitioned:
		return broken && worst < c.Partition.Index
	case released, complete:
	}
	return false
}

// takesBack reports whether a city has to wait for the repair of others: its cells have not begun to replace the
// Instances that got the target.
func (d *decision) takesBack(c *City) bool {
	return d.repairing && c.Surge == 0 && c.pending() > 0 && c.unavailable() == 0
}

// isStuck reports whether the Instances that have their turn wait for one that does not: it is unavailable, the earlier
// template may not start any more, and the cells' own limit or order holds up the others. The cells have not begun with
// any of them.
func (d *decision) isStuck(c *City) bool {
	worst, broken := highest(d.outdated(c), func(i Instance) bool { return !i.Available && !i.Held })
	if !broken || worst >= c.Partition.Index || c.Surge > 0 || c.pending() == 0 || c.Unreachable || c.Missing > 0 && !c.Ordered {
		return false
	}
	return !slices.ContainsFunc(c.Instances, func(i Instance) bool { return i.Updated && !i.Available })
}

// takeBack keeps the target from the Instances of a city that do not have it yet.
func (d *decision) takeBack(city int) {
	c := &d.Cities[city]
	d.result.Steps = append(d.result.Steps, Step{City: city, Held: true, Index: MaxIndex, Stable: c.Partition.Template, Surge: c.Surge})
	if d.repairing {
		d.sayRepair(city)
		return
	}
	d.say(city, "an unavailable Instance with the earlier template holds up the others: it gets the new template first")
}

func (d *decision) sayRepair(city int) {
	if d.NoSlack {
		d.say(city, "waits: the disruption budget lets no Available Instance be replaced; the unavailable ones get the new template first")
		return
	}
	d.say(city, "waits: the slack of the disruption budget is in cities with unavailable Instances; these get the new template first")
}

// idle reports whether a city that has the target waits for the repair of others.
func (d *decision) idle(c *City) bool {
	return d.repairing && d.stage(c) == partitioned && c.Observed && c.pending() == 0
}

// awaitsFirst reports whether another city has the first Instance with the target, which is not Available yet: that
// city was repaired before its turn.
func (d *decision) awaitsFirst(city int) bool {
	for i := range d.Cities {
		c := &d.Cities[i]
		if i != city && !d.passed() && d.stage(c) == partitioned && (!c.Observed || c.pending() > 0) {
			return true
		}
	}
	return false
}
