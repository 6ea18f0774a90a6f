// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import "slices"

// SurgeSingle is the MaxSurge of Workloads that do not set it: each city with a single Instance gets an additional one.
const SurgeSingle = -1

// surge is how many additional Instances a city gets before its Instances are replaced. A city where an Instance is
// unavailable, or waits for quota, gets none: nothing is gained by it.
func (d *decision) surge(o *offer) int {
	if o.Surge > 0 || o.returns && o.below() || !o.isWhole() {
		return 0
	}
	most := d.surgeLimit(o.City)
	switch {
	case !d.passed():
		// The first Instance with the target is alone.
		most = min(most, 1)
	case d.Batch > 0:
		most = min(most, d.Batch)
	}
	return most
}

// surgeLimit is how many additional Instances a city may have now.
func (d *decision) surgeLimit(c *City) int {
	switch {
	case c.NoSurge:
		return 0
	case d.MaxSurge != SurgeSingle:
		left := d.MaxSurge
		for i := range d.Cities {
			left -= d.surgeOf(i)
		}
		return max(0, min(c.Desired, left))
	case c.Desired == 1:
		return 1
	}
	return 0
}

// surgeOf is how many additional Instances a city has, or gets by a step of this call.
func (d *decision) surgeOf(city int) int {
	most := d.Cities[city].Surge
	for _, step := range d.result.Steps {
		if step.City == city {
			most = max(most, step.Surge)
		}
	}
	return most
}

// below reports whether all Instances of a city that exist are below its partition.
func (c *City) below() bool {
	return !slices.ContainsFunc(c.Instances, func(i Instance) bool { return i.Index >= c.Partition.Index })
}

// isWhole reports whether a city has all of its Instances, they are Available, and its cells are not replacing any of
// them.
func (c *City) isWhole() bool {
	if len(c.Instances) != c.Desired || c.Desired == 0 || c.Missing > 0 || c.unavailable() > 0 {
		return false
	}
	if c.Instances[len(c.Instances)-1].Index+c.Desired >= MaxIndex ||
		slices.ContainsFunc(c.Instances, func(i Instance) bool { return i.Held }) {
		return false
	}
	if c.Partition != nil {
		return c.pending() == 0
	}
	return c.unfinished() == 0
}

// giveAdditional gives a waiting city additional Instances, or gives the target to its additional Instances that do not
// exist yet. They have the highest indices, and all others keep their template. It reports whether the city has
// additional Instances.
func (d *decision) giveAdditional(o *offer) bool {
	surge := d.surge(o)
	switch {
	case surge > 0:
		d.write(o.city, Step{Index: o.Instances[len(o.Instances)-1].Index + 1, Surge: surge})
	case !o.returns && o.awaitsSurge() && o.Partition != nil && o.below():
		d.step(o.city, Step{Index: o.Partition.Index})
	default:
		return false
	}
	return true
}

// awaitsSurge reports whether additional Instances of a city do not exist yet, or wait for quota.
func (c *City) awaitsSurge() bool {
	if c.Surge == 0 {
		return false
	}
	started := 0
	for _, instance := range c.Instances {
		if !instance.Held {
			started++
		}
	}
	return started < c.Desired+c.Surge
}

// cancelSurge removes additional Instances that the cells of a city cannot start. Then the others are replaced without
// them.
func (d *decision) cancelSurge(city int) {
	d.write(city, Step{Index: d.Cities[city].Partition.Index})
}

// endSurge removes the additional Instances of a city once the others have the target and are Available, or if its
// cells cannot start them.
func (d *decision) endSurge(city int) {
	c := &d.Cities[city]
	kept := c.kept()
	incomplete := func(i Instance) bool { return !i.Updated || !i.Available && !i.Held }
	if c.Unserved || c.SurgeLate || c.Observed && len(kept) >= c.Desired && !slices.ContainsFunc(kept, incomplete) {
		d.write(city, Step{Released: true})
	}
}

// kept are the Instances of a city that stay when its additional ones are removed: where one cell has them all, those
// with the lowest indices. They may be any while that is not known; nil: one of them may be missing.
func (c *City) kept() []Instance {
	switch {
	case c.Cells == 1 && len(c.Instances) >= c.Desired && (c.Missing == 0 || c.Instances[c.Desired-1].Index == c.Desired-1):
		return c.Instances[:c.Desired]
	case c.Missing > 0:
		return nil
	}
	return c.Instances
}
