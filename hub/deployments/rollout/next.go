// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
)

// Phase is what a rollout does.
type Phase string

// Phases of a rollout.
const (
	// Progressing rollouts have a city that gets the target or waits for it.
	Progressing Phase = "Progressing"
	// Paused rollouts wait for a user.
	Paused Phase = "Paused"
	// Complete rollouts have all Instances Available with the target.
	Complete Phase = "Complete"
)

// Step gives a city the target.
type Step struct {
	// City is the position of the city.
	City int
	// Released says that all Instances get the target. Otherwise those from Index on get it, and the others keep the template Stable.
	Released bool
	Index    int
	Stable   string
	// Held says that the city keeps its template: only its partition changes.
	Held bool
	// Cautious says that a cell takes down one Instance at a time.
	Cautious bool
}

// Result is what to do, and what is waited for.
type Result struct {
	// Steps to take now, each in another city.
	Steps []Step
	// Phase of the rollout, City that it is in (-1: none), and Message that says what it waits for.
	Phase   Phase
	City    int
	Message string
}

// Next returns the next steps.
func Next(s *State) Result {
	d := decision{State: s, result: Result{Phase: Progressing, City: -1}}
	d.holdGrowing()
	if s.Paused {
		return d.end(Paused, "spec.rollout.paused is set")
	}
	d.left = s.MaxUnavailable
	for i := range s.Cities {
		d.left -= s.cost(&s.Cities[i])
	}
	for i := range s.Cities {
		if s.stage(&s.Cities[i]) == partitioned && !d.stepped(i) {
			d.advance(i)
		}
	}
	for _, i := range d.turn() {
		if !d.mayStart(i) {
			break
		}
		if !d.start(i) {
			break
		}
	}
	return d.finish()
}

// decision is the state of one call of Next.
type decision struct {
	*State
	result Result
	// left is how many more Instances may become unavailable.
	left int
}

// holdGrowing keeps the target from Instances that are about to be created above a partition: they would get it all at once.
func (d *decision) holdGrowing() {
	for i := range d.Cities {
		if c := &d.Cities[i]; c.Grows && c.Partition != nil && c.Partition.Index < MaxIndex {
			d.result.Steps = append(d.result.Steps, Step{City: i, Held: true, Index: MaxIndex, Stable: c.Partition.Template})
			d.say(i, "the Instances that it gets have the earlier template until their turn")
		}
	}
}

func (d *decision) stepped(city int) bool {
	return slices.ContainsFunc(d.result.Steps, func(s Step) bool { return s.City == city })
}

// say records what the rollout waits for, the first time.
func (d *decision) say(city int, message string) {
	if d.result.City < 0 {
		d.result.City, d.result.Message = city, d.Cities[city].Code+": "+message
	}
}

func (d *decision) end(phase Phase, message string) Result {
	d.result.Phase = phase
	if d.result.Message = message; d.result.City < 0 {
		d.result.City = slices.IndexFunc(d.Cities, func(c City) bool { return d.stage(&c) == partitioned })
	}
	return d.result
}

// pausing reports whether the rollout has come to the place where it pauses.
func (d *decision) pausing() bool {
	if d.Resumed {
		return false
	}
	return d.PauseAfter > 0 && d.updatedAvailable() >= d.PauseAfter ||
		d.PauseAfterFirst && len(d.Cities) > 0 && d.stage(&d.Cities[0]) == complete
}

// advance takes the next step of a city that has a partition, if its Instances with the target are Available.
func (d *decision) advance(city int) {
	c := &d.Cities[city]
	switch {
	case !c.Observed:
		d.say(city, "its cells have not reported the last step")
	case c.pending() > 0:
		d.say(city, fmt.Sprintf("%d of its Instances with the new template are not Available", c.pending()))
	case len(d.outdated(c)) == 0 && c.Missing == 0 && len(c.Instances) > 0:
		d.release(city)
	case d.pausing():
	default:
		d.give(city)
	}
}

// turn are the cities that have not started, in order. One that an earlier rollout has not finished is first: it may have the
// broken Instance that the target corrects.
func (d *decision) turn() []int {
	var left, rest []int
	for i := range d.Cities {
		switch c := &d.Cities[i]; {
		case d.stage(c) != waiting || d.stepped(i):
		case c.Partition != nil || c.unfinished() > 0:
			left = append(left, i)
		default:
			rest = append(rest, i)
		}
	}
	return append(left, rest...)
}

// mayStart reports whether another city may start: after the canary, and as many at once as are allowed.
func (d *decision) mayStart(city int) bool {
	if d.Cities[city].Unserved {
		return true
	}
	active := map[string]bool{}
	for i := range d.Cities {
		c := &d.Cities[i]
		started := d.stepped(i) && !c.Unserved
		if i != city && (d.active(c) || started) {
			active[c.Code] = true
			// Two placements of a city are updated one after the other.
			if c.Code == d.Cities[city].Code {
				return false
			}
		}
	}
	if len(active) > 0 && (!d.passed() || len(active) >= max(1, d.CitiesAtOnce)) {
		return false
	}
	return !d.pausing()
}

// start gives a city its first Instances with the target. It reports whether the next city may be tried: one without a report may be about
// to change, while one with too many unavailable Instances may wait for a correction of another.
func (d *decision) start(city int) bool {
	c := &d.Cities[city]
	switch {
	case c.Unserved:
		d.release(city)
	case !c.Observed && c.Cells > 0:
		d.say(city, "its cells have not reported the last change")
		return false
	default:
		d.give(city)
	}
	return true
}

// offer is what a city can get.
type offer struct {
	*City
	city     int
	outdated []Instance
	// spare is how many more Instances of the city may become unavailable, and extra how many do when its cells may replace all.
	spare, extra int
	// waits says that the city has an earlier template, and returns that its partition has the target.
	waits, returns bool
	// broken says that Instances without the target are unavailable; worst is the highest index of these.
	broken bool
	worst  int
}

func (d *decision) offer(city int) *offer {
	c := &d.Cities[city]
	o := &offer{City: c, city: city, outdated: d.outdated(c), waits: c.Template != d.Target}
	unavailable := c.unavailable()
	o.spare = d.left + d.cost(c) - unavailable
	o.extra = max(0, min(c.Room, len(o.outdated)+unavailable)-unavailable)
	o.worst, o.broken = highest(o.outdated, func(i Instance) bool { return !i.Available && !i.Held })
	o.returns = c.Partition != nil && c.Partition.Template == d.Target
	return o
}

// give gives a city as many more Instances with the target as are allowed.
func (d *decision) give(city int) {
	o := d.offer(city)
	d.left = o.spare
	fits := o.extra <= max(0, o.spare)
	whole := o.returns || d.passed() && d.Batch == 0 && !d.limited(len(o.outdated))
	switch {
	case whole && fits:
		d.left -= o.extra
		d.release(city)
	case d.takeOver(o) || d.replaceBroken(o):
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

// takeOver gives the target to Instances that an earlier rollout was replacing. It reports whether there are some.
func (d *decision) takeOver(o *offer) bool {
	inFlight := o.waits && o.Partition != nil && o.Partition.Index < MaxIndex && o.pending() > 0
	switch {
	case inFlight && !d.passed():
		// The highest is the canary. The others get their earlier template.
		d.left -= max(0, o.pending()-o.unavailable())
		d.step(o.city, Step{Index: o.replacing(), Cautious: true})
	case o.waits && o.Partition == nil && o.Cells > 0 && o.unfinished() > 0:
		// Its cells may be replacing any of these Instances now: one at a time from here on.
		index, _ := highest(o.Instances, func(i Instance) bool { return !i.Updated })
		d.step(o.city, Step{Index: index, Cautious: true})
	default:
		return false
	}
	return true
}

// replaceBroken gives the target to an Instance that is unavailable. That is allowed whatever the limit is: a broken template must not keep
// its correction out. It reports whether there is one.
func (d *decision) replaceBroken(o *offer) bool {
	switch {
	case !d.passed() && o.Missing > 0 && (!o.Ordered || !o.broken):
		d.step(o.city, Step{Index: missing(o.City), Cautious: true})
	case o.returns && (o.broken || o.pending() > 0):
		// Only these Instances have another template than the one that the city returns to.
		d.left -= max(0, o.pending()-o.unavailable())
		d.step(o.city, Step{Index: o.Partition.Index, Cautious: true})
	case o.broken && (o.spare < 1 || o.Cells < 2 && !d.passed()):
		d.step(o.city, Step{Index: o.worst, Cautious: true})
	default:
		return false
	}
	return true
}

// limited reports whether the rollout pauses before so many more Instances have the target.
func (d *decision) limited(more int) bool {
	return d.PauseAfter > 0 && !d.Resumed && d.updatedAvailable()+more > d.PauseAfter
}

// most is how many Instances may get the target at once.
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

// canary is the index of the first Instance of a city that gets the target: the highest of those that do not wait for quota.
func canary(c *City) int {
	if index, found := highest(c.Instances, func(i Instance) bool { return !i.Held }); found {
		return index
	}
	if len(c.Instances) > 0 {
		return c.Instances[len(c.Instances)-1].Index
	}
	return max(0, c.Desired-1)
}

// missing is an index that is created next and can be the canary.
func missing(c *City) int {
	if c.Ordered && len(c.Instances) == 0 {
		return 0
	}
	return max(canary(c), c.Desired-1)
}

func highest(instances []Instance, fits func(Instance) bool) (index int, found bool) {
	for _, instance := range slices.Backward(instances) {
		if fits(instance) {
			return instance.Index, true
		}
	}
	return 0, false
}

func (d *decision) release(city int) { d.step(city, Step{Released: true}) }

// step takes a step in a city. Instances below its partition keep the template that was there before the target.
func (d *decision) step(city int, step Step) {
	c := &d.Cities[city]
	step.City = city
	if !step.Released {
		step.Stable = c.Template
		if c.Partition != nil {
			step.Stable = c.Partition.Template
		}
	}
	d.result.Steps = append(d.result.Steps, step)
	if step.Released {
		d.say(city, "all of its Instances get the new template")
		return
	}
	d.say(city, fmt.Sprintf("its Instances from index %d on get the new template", step.Index))
}

// finish says what the rollout waits for.
func (d *decision) finish() Result {
	if len(d.result.Steps) == 0 && d.pausing() && len(d.turn())+d.count(partitioned) > 0 {
		return d.end(Paused, "spec.rollout.pauseAfter is reached; kubectl compute rollout resume continues")
	}
	for i := range d.Cities {
		if c := &d.Cities[i]; d.stage(c) == released && !d.stepped(i) {
			d.say(i, fmt.Sprintf("%d of %d Instances have the new template, %d are not Available",
				len(c.Instances)-len(d.outdated(c)), c.Desired, c.unavailable()))
		}
	}
	if len(d.result.Steps) == 0 && d.count(complete) == len(d.Cities) {
		return d.end(Complete, "")
	}
	return d.result
}

func (d *decision) count(at stage) int {
	count := 0
	for i := range d.Cities {
		if d.stage(&d.Cities[i]) == at {
			count++
		}
	}
	return count
}
