// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
)

// offer holds the limits for a city.
type offer struct {
	*City
	city     int
	outdated []Instance
	// spare is how many more Instances of the city may become unavailable, and extra how many do when its cells may
	// replace all.
	spare, extra int
	// fits: its cells may replace all, also if the unavailable Instances only start and are Available by then.
	fits bool
	// waits: the city has an earlier template; returns: its partition has the target.
	waits, returns bool
	// broken: Instances without the target are unavailable; worst is the highest index of these.
	broken bool
	worst  int
}

func (d *decision) offer(city int) *offer {
	c := &d.Cities[city]
	o := &offer{City: c, city: city, outdated: d.outdated(c), waits: c.Template != d.Target}
	unavailable := c.unavailable()
	o.spare = d.left + d.cost(c) - c.lacking(unavailable)
	most := min(c.Room, len(o.outdated)+unavailable)
	o.extra = c.lacking(max(unavailable, most)) - c.lacking(unavailable)
	o.fits = c.lacking(most) <= max(0, o.spare+c.lacking(unavailable))
	o.worst, o.broken = highest(o.outdated, func(i Instance) bool { return !i.Available && !i.Held })
	o.returns = c.Partition != nil && c.Partition.Template == d.Target
	return o
}

// give gives a city as many more Instances with the target as are allowed.
func (d *decision) give(city int) {
	o := d.offer(city)
	d.left = o.spare
	switch {
	case o.waits && d.giveAdditional(o):
	case !d.repairing:
		d.giveMore(city, o)
	case !o.broken || !d.takeOver(o) && !d.replaceBroken(o):
		d.sayRepair(city)
	}
}

// giveMore gives a city, which needs no additional Instances, as many more with the target as the limits allow.
func (d *decision) giveMore(city int, o *offer) {
	whole := o.returns || d.passed() && d.Batch == 0 && !d.limited(len(o.outdated))
	switch {
	case whole && o.fits:
		d.left -= o.extra
		d.release(city)
	case d.takeOver(o) || whole && d.replaceUnavailable(o) || d.replaceBroken(o):
	case o.spare < 1:
		d.say(city, fmt.Sprintf("waits: with one Instance more, %d would be unavailable, and maxUnavailable allows %d; "+
			"repair them, or raise spec.rollout.maxUnavailable", d.MaxUnavailable-o.spare+1, d.MaxUnavailable))
	case !d.passed():
		d.left--
		d.step(city, Step{Index: canary(o.City)})
	case d.most() >= len(o.outdated):
		d.left -= len(o.outdated)
		d.release(city)
	default:
		most := d.most()
		d.left -= most
		d.step(city, Step{Index: o.outdated[len(o.outdated)-most].Index})
	}
}

// takeOver gives the target to Instances that an earlier rollout was replacing. It reports whether there were any.
func (d *decision) takeOver(o *offer) bool {
	inFlight := o.waits && o.Partition != nil && o.Partition.Index < MaxIndex && o.pending() > 0
	switch {
	case inFlight && !d.passed():
		// The highest is the canary. The others get their earlier template.
		d.left -= max(0, o.pending()-o.unavailable())
		d.step(o.city, Step{Index: o.replacing(), Cautious: true})
	case o.waits && o.Partition == nil && o.Cells > 0 && o.unfinished() > 0:
		// Its cells may be replacing any of these Instances now: one at a time from here on.
		d.left -= o.extra
		index, _ := highest(o.Instances, func(i Instance) bool { return !i.Updated })
		d.step(o.city, Step{Index: index, Cautious: true})
	default:
		return false
	}
	return true
}

// replaceBroken gives the target to an Instance that is unavailable. That is allowed regardless of the limit: a broken
// template must not block its correction. It reports whether such an Instance exists.
func (d *decision) replaceBroken(o *offer) bool {
	switch {
	case !d.passed() && o.Missing > 0 && (!o.Ordered || !o.broken):
		d.step(o.city, Step{Index: missing(o.City), Cautious: true})
	case o.returns && (o.broken || o.pending() > 0):
		// Only these Instances have another template than the one that the city returns to.
		d.left -= max(0, o.pending()-o.unavailable())
		d.step(o.city, Step{Index: o.Partition.Index, Cautious: true})
	case o.broken && (o.spare < 1 || d.repairing || o.Partition != nil && o.Partition.Index == MaxIndex || o.Cells < 2 && !d.passed()):
		d.step(o.city, Step{Index: o.worst, Cautious: true})
	default:
		return false
	}
	return true
}

// replaceUnavailable gives the target to all Instances of a city that are unavailable, if they are more than the limit.
// A report does not show whether they are broken or still start. Broken ones are replaced at the same time, regardless
// of any limit. Instances that are Available by then, and Available ones with higher indices, are replaced one at a
// time. It reports whether there are any.
func (d *decision) replaceUnavailable(o *offer) bool {
	lowest := slices.IndexFunc(o.outdated, func(i Instance) bool { return !i.Available && !i.Held })
	if lowest < 0 || o.returns || o.spare >= 1 {
		return false
	}
	d.step(o.city, Step{Index: o.outdated[lowest].Index, Cautious: true})
	return true
}

// limited reports whether the rollout pauses before so many more Instances have the target.
func (d *decision) limited(more int) bool {
	return d.PauseAfter > 0 && !d.Resumed && d.updatedAvailable()+more > d.PauseAfter
}

// most returns how many Instances may get the target at once.
func (d *decision) most() int {
	most := d.left
	if d.Batch > 0 {
		most = min(most, d.Batch)
	}
	if d.PauseAfter > 0 && !d.Resumed {
		most = min(most, d.PauseAfter-d.updatedAvailable())
	}
	return max(1, most)
}

// canary returns the index of the first Instance of a city that gets the target: the highest one that does not wait for
// quota.
func canary(c *City) int {
	if index, found := highest(c.Instances, func(i Instance) bool { return !i.Held }); found {
		return index
	}
	if len(c.Instances) > 0 {
		return c.Instances[len(c.Instances)-1].Index
	}
	return max(0, c.Desired+c.Surge-1)
}

// missing returns an index that is created next and can be the canary.
func missing(c *City) int {
	if c.Ordered && len(c.Instances) == 0 {
		return 0
	}
	return max(canary(c), c.Desired+c.Surge-1)
}

func highest(instances []Instance, fits func(Instance) bool) (index int, found bool) {
	for _, instance := range slices.Backward(instances) {
		if fits(instance) {
			return instance.Index, true
		}
	}
	return 0, false
}
