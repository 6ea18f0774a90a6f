// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
)

// Phase is the phase of a rollout.
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
	// Released: all Instances get the target. Otherwise the Instances from Index on get it, and the others keep the
	// template Stable.
	Released bool
	Index    int
	Stable   string
	// Held: the city keeps its template: only its partition changes.
	Held bool
	// Surge is how many additional Instances the city has from now on.
	Surge int
	// Cautious says that a cell takes down one Instance at a time.
	Cautious bool
}

// Result holds the next steps and the state of the rollout.
type Result struct {
	// Steps to take now, each in another city.
	Steps []Step
	// Phase of the rollout, City that it is in (-1: none), and Message about what it waits for.
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
	d.repair()
	for i := range s.Cities {
		switch at := s.stage(&s.Cities[i]); {
		case d.stepped(i):
		case at == partitioned:
			d.advance(i)
		case at == released && s.Cities[i].Surge > 0:
			d.endSurge(i)
		}
	}
	waits := false
	for _, i := range d.turn() {
		// While one waits, the others wait behind it, unless it waits for them and the target has run.
		if !waits || d.passed() && d.holdsUp(i) {
			waits = !d.mayStart(i) || !d.start(i) || waits
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
	// repairing: unavailable Instances get the target before their turn, and the others wait.
	repairing bool
}

// holdGrowing keeps the target from Instances that are about to be created above a partition: they would get it all at
// once.
func (d *decision) holdGrowing() {
	for i := range d.Cities {
		if c := &d.Cities[i]; c.Grows && c.Partition != nil && c.Partition.Index < MaxIndex {
			d.result.Steps = append(d.result.Steps, Step{
				City: i, Held: true, Index: MaxIndex, Stable: c.Partition.Template, Surge: c.Surge,
			})
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

// pausing reports whether the rollout has reached its pause.
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
	case c.Surge > 0 && c.SurgeLate:
		d.cancelSurge(city)
	case d.takesBack(c) || d.isStuck(c):
		d.takeBack(city)
	case c.pending() > 0:
		d.say(city, fmt.Sprintf("%d of its Instances with the new template are not Available", c.pending()))
	case c.awaitsSurge():
		d.say(city, "waits for an additional Instance")
	case len(d.outdated(c)) == 0 && c.Missing == 0 && len(c.Instances) > 0:
		d.release(city)
	case d.pausing():
	case d.awaitsFirst(city):
		d.say(city, "waits for the first Instance with the new template, in another city")
	default:
		d.give(city)
	}
}

// turn returns the cities that have not started, in order. A city with Instances that only the target repairs comes
// first, and then one that an earlier rollout has not finished: it may have the broken Instance that the target
// corrects.
func (d *decision) turn() []int {
	var broken, left, rest []int
	for i := range d.Cities {
		switch c := &d.Cities[i]; {
		case d.stage(c) != waiting || d.stepped(i):
		case d.repairing && d.waitsForRepair(c):
			broken = append(broken, i)
		case c.Partition != nil || c.unfinished() > 0:
			left = append(left, i)
		default:
			rest = append(rest, i)
		}
	}
	return slices.Concat(broken, left, rest)
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
		if i != city && (d.active(c) && !d.idle(c) || started) {
			active[c.Code] = true
			// Two placements of a city are updated one after the other.
			if c.Code == d.Cities[city].Code {
				return false
			}
		}
	}
	if len(active) > 0 && (!d.passed() || len(active) >= max(1, d.CitiesAtOnce) && !d.holdsUp(city)) {
		return false
	}
	return !d.pausing()
}

// holdsUp reports whether Instances of a city that only the target repairs are unavailable, and leave the cities before
// it nothing of the limit: each would wait for the other.
func (d *decision) holdsUp(city int) bool {
	_, broken := highest(d.outdated(&d.Cities[city]), func(i Instance) bool { return !i.Available && !i.Held })
	return broken && (d.left < 1 || d.repairing)
}

// start gives a city its first Instances with the target. It reports whether the next city may be tried: one without a
// report may be about to change, while one with too many unavailable Instances may wait for a correction of another.
func (d *decision) start(city int) bool {
	c := &d.Cities[city]
	switch {
	case c.Unserved:
		d.write(city, Step{Released: true})
	case !c.Observed && c.Cells > 0:
		d.say(city, "its cells have not reported the last change")
		return false
	case len(c.Instances) > c.Desired+c.Surge && d.surgeLimit(c) > 0:
		// One of these could be taken for an additional one.
		d.say(city, "waits for the end of surplus Instances")
		return false
	default:
		d.give(city)
	}
	return true
}

func (d *decision) release(city int) { d.step(city, Step{Released: true}) }

// step takes a step in a city, which keeps its additional Instances.
func (d *decision) step(city int, step Step) {
	step.Surge = d.Cities[city].Surge
	d.write(city, step)
}

// write takes a step in a city. Instances below its partition keep the template that was there before the target.
func (d *decision) write(city int, step Step) {
	c := &d.Cities[city]
	step.City = city
	if !step.Released {
		step.Stable = c.Template
		if c.Partition != nil {
			step.Stable = c.Partition.Template
		}
	}
	d.result.Steps = append(d.result.Steps, step)
	switch {
	case step.Released && step.Surge < c.Surge:
		d.say(city, "its additional Instances are removed")
		return
	case step.Released:
		d.say(city, "all of its Instances get the new template")
		return
	}
	d.say(city, fmt.Sprintf("its Instances from index %d on get the new template", step.Index))
}

// finish reports what the rollout waits for.
func (d *decision) finish() Result {
	if len(d.result.Steps) == 0 && d.pausing() && len(d.turn())+d.count(partitioned) > 0 {
		return d.end(Paused, "spec.rollout.pauseAfter is reached; kubectl compute rollout resume continues")
	}
	for i := range d.Cities {
		if c := &d.Cities[i]; d.stage(c) == released && !d.stepped(i) {
			d.say(i, fmt.Sprintf("%d of %d Instances have the new template, %d are not Available",
				min(len(c.Instances)-len(d.outdated(c)), c.Desired), c.Desired, c.unavailable()))
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
