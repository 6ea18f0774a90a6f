// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which Instances of a Workload get a new template next. Read builds a State from the objects
// of a project, and Plan returns the next steps. Both are pure: hub/deployments writes the steps, and the command line
// shows them. Every step changes one WorkloadDeployment, so that a kill between two of them leaves a state from which
// Plan continues.
package rollout

import (
	"fmt"
	"slices"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Plan returns the steps to take now, and for each other city why it takes none. The rule:
//
//  1. What is not reported does not count: a city whose cells have not observed its last step waits.
//  2. The first Instance with the target is alone, in the first city. Others follow when it is Available.
//  3. Cities follow in the order of the State, CitiesAtOnce at a time. A city that an earlier rollout has left unfinished is first.
//  4. In a city, Instances get the target from the highest index down: all at once if the limits of its cells keep within
//     MaxUnavailable, and without Batch; otherwise by lowering its partition, and when all Instances that have the target are Available.
//  5. Unavailable Instances, of all cities together, use up MaxUnavailable. They may get the target beyond it themselves.
//  6. Where all Instances are Available, additional ones get the target first, within MaxSurge, and are removed at the end.
//  7. A disruption budget without slack puts unavailable Instances first, in any city, and takes back what no cell has begun.
//  8. An override policy that has changed a template in the cells of a city waits until all have the target. Then one cell after another
//     has its turn, in the order of the cities, while all Instances of the cities that have had theirs are Available.
//  9. Nothing gets the target while the rollout is paused, or once PauseAfter is reached. New Instances never get it before their turn.
func Plan(s *State) Steps {
	p := newPlanner(s)
	if s.Paused {
		p.end(Paused, "spec.rollout.paused is set")
		return p.complete()
	}

	for i := range p.cities {
		switch c := &p.cities[i]; {
		case p.stepped(c):
		case c.stage == partitioned:
			p.advance(c)
		case c.stage == released && c.Surge > 0:
			p.endSurge(c)
		}
	}
	waits := false
	for _, c := range p.turn() {
		// While one waits, the others wait behind it, unless it waits for them and the target has run.
		if !waits || p.passed && p.holdsUp(c) {
			waits = !p.begin(c) || waits
		}
	}
	p.finish()
	return p.complete()
}

// planner is the state of one call of Plan.
type planner struct {
	*State
	cities []facts
	steps  Steps
	// updated is how many Instances have the target and are Available; passed: the target has run.
	updated int
	passed  bool
	// left is how many more Instances may become unavailable.
	left int
	// repairing: unavailable Instances get the target before their turn, and the others wait.
	repairing bool
}

func newPlanner(s *State) *planner {
	p := &planner{State: s, steps: Steps{Phase: Progressing, City: -1, Turns: make([]Turn, len(s.Cities))}, left: s.MaxUnavailable}
	for i := range s.Cities {
		c := s.factsOf(i)
		p.cities = append(p.cities, c)
		p.updated += c.updatedAvailable(s.Target)
		p.left -= c.cost()
	}
	p.passed = s.Proven || p.updated > 0
	p.repairing = p.needsRepair()
	return p
}

// needsRepair reports whether only the target helps. A disruption budget without slack lets cells replace no Available
// Instance, while it does not count the unavailable ones. If some of these wait for their turn, the city in progress
// would wait for them, and they for the city. Slack of the city where they are does not help: they may use up the
// cells' own limit, so that the cells keep it.
func (p *planner) needsRepair() bool {
	waits, held := false, 0
	for i := range p.cities {
		if c := &p.cities[i]; c.waitsForRepair() {
			waits, held = true, held+c.Slack
		}
	}
	return waits && (p.NoSlack || p.Slack > 0 && p.Slack <= held)
}

// turn returns the cities that have not started, in order. A city with Instances that only the target repairs comes
// first, and then one that an earlier rollout has not finished: it may have the broken Instance that the target
// corrects.
func (p *planner) turn() []*facts {
	var broken, left, remaining []*facts
	for i := range p.cities {
		switch c := &p.cities[i]; {
		case c.stage != waiting || p.stepped(c):
		case p.repairing && c.waitsForRepair():
			broken = append(broken, c)
		case c.Partition != nil || c.unfinished > 0:
			left = append(left, c)
		default:
			remaining = append(remaining, c)
		}
	}
	return slices.Concat(broken, left, remaining)
}

// begin gives a city its first Instances with the target. It reports whether the next city may be tried: one without a
// report may be about to change, while one with too many unavailable Instances may be waiting for another city's
// correction.
func (p *planner) begin(c *facts) bool {
	if turn := p.queue(c); turn.Reason != "" {
		p.steps.Turns[c.at] = turn
		return false
	}

	switch {
	case c.Unserved, c.stopped():
		p.take(c, Step{Released: true}, "")
	case !c.Observed && c.Cells > 0:
		p.wait(c, NotReported, "its cells have not reported the last change")
		return false
	case len(c.Instances) > c.Desired+c.Surge && p.surgeLimit(c) > 0:
		// One of these could be taken for an additional one.
		p.wait(c, Surplus, "waits for the end of surplus Instances")
		return false
	default:
		p.give(c)
	}
	return true
}

// queue returns why it is not the turn of a city yet: other cities are, as many at once as are allowed, and first the
// canary.
func (p *planner) queue(c *facts) Turn {
	if c.Unserved {
		return Turn{}
	}

	var active []string
	for i := range p.cities {
		other := &p.cities[i]
		started := p.stepped(other) && !other.Unserved
		if other.at == c.at || !started && (!other.isActive() || p.isIdle(other)) {
			continue
		}
		if other.Code == c.Code {
			return Turn{Queued, "waits for its turn: the placements of a city are updated one after the other"}
		}
		active = append(active, other.Code)
	}
	slices.Sort(active)
	active = slices.Compact(active)
	switch {
	case len(active) > 0 && !p.passed:
		return Turn{Queued, "waits for its turn: the first Instance with the new template is not Available yet, in " + list(active)}
	case len(active) > 0 && len(active) >= max(1, p.CitiesAtOnce) && !p.holdsUp(c):
		return Turn{Queued, fmt.Sprintf("waits for its turn: spec.rollout.citiesAtOnce is %d, and %s gets the new template now",
			max(1, p.CitiesAtOnce), list(active))}
	case p.pausing():
		return Turn{PauseReached, pauseReached}
	}
	return Turn{}
}

// holdsUp reports whether Instances of a city that only the target repairs are unavailable, and leave the cities before
// it nothing of the limit: each would wait for the other.
func (p *planner) holdsUp(c *facts) bool { return c.broken && (p.left < 1 || p.repairing) }

// isIdle reports whether a city that has the target waits for the repair of others.
func (p *planner) isIdle(c *facts) bool {
	return p.repairing && c.stage == partitioned && c.Observed && c.pending == 0
}

const pauseReached = "spec.rollout.pauseAfter is reached; kubectl compute rollout resume continues"

// pausing reports whether the rollout has reached its pause.
func (p *planner) pausing() bool {
	if p.Resumed {
		return false
	}
	return p.PauseAfter > 0 && p.updated >= p.PauseAfter || p.PauseAfterFirst && len(p.cities) > 0 && p.cities[0].stage == complete
}

func (p *planner) stepped(c *facts) bool {
	return slices.ContainsFunc(p.steps.Take, func(s Step) bool { return s.City == c.at })
}

// take records a step of a city. Instances below its partition keep the template that was there before the target.
func (p *planner) take(c *facts, step Step, message string) {
	step.City = c.at
	if !step.Released {
		step.Stable, step.Indices = c.stable(), p.allowed(c, &step)
	}
	p.steps.Take = append(p.steps.Take, step)
	switch {
	case message != "":
	case step.Released && step.Surge < c.Surge:
		message = "its additional Instances are removed"
	case step.Released:
		message = "all of its Instances get the new template"
	default:
		message = fmt.Sprintf("its Instances from index %d on get the new template", step.Index)
	}
	p.wait(c, StepTaken, message)
}

// allowed are the Instances that a step gives the target: the first one alone, later the ones from the index of the step on that
// exist or are about to be created. Instances that an autoscaler adds after the step keep the earlier template until their turn.
func (p *planner) allowed(c *facts, step *Step) string {
	indices := []int{step.Index}
	switch {
	case step.Held:
		return ""
	case !p.passed && !c.returns && step.Surge == 0:
		return naming.Format(indices)
	}
	last := -1
	for _, instance := range c.Instances {
		last = instance.Index
		if last > step.Index {
			indices = append(indices, last)
		}
	}
	missing := c.Desired + step.Surge - len(c.Instances)
	for index := max(last, step.Index) + 1; index <= last+missing && !c.Autoscaled; index++ {
		indices = append(indices, index)
	}
	return naming.Format(indices)
}

// wait records the reason why a city waits. The rollout shows the first one.
func (p *planner) wait(c *facts, reason Reason, message string) {
	p.steps.Turns[c.at] = Turn{reason, message}
	if p.steps.City < 0 {
		p.steps.City, p.steps.Message = c.at, c.Code+": "+message
	}
}

// finish reports what the rollout waits for.
func (p *planner) finish() {
	if len(p.steps.Take) == 0 && p.pausing() && len(p.turn())+p.count(partitioned) > 0 {
		p.end(Paused, pauseReached)
		return
	}
	for i := range p.cities {
		if c := &p.cities[i]; c.stage == released && !p.stepped(c) {
			p.wait(c, Replacing, c.progress(c.unavailable))
		}
	}
	if len(p.steps.Take) == 0 && p.count(complete) == len(p.cities) {
		p.end(Complete, "")
	}
}

// complete adds the turns for overrides, and the reasons of the other cities.
func (p *planner) complete() Steps {
	p.override()
	p.fillTurns()
	return p.steps
}

// end sets the phase of a rollout in which no city takes a step.
func (p *planner) end(phase Phase, message string) {
	p.steps.Phase, p.steps.Message = phase, message
	if p.steps.City < 0 {
		p.steps.City = slices.IndexFunc(p.cities, func(c facts) bool { return c.stage == partitioned })
	}
}

// fillTurns gives cities that the rollout does not wait for their reasons.
func (p *planner) fillTurns() {
	for i := range p.cities {
		c, turn := &p.cities[i], &p.steps.Turns[i]
		switch {
		case turn.Reason != "":
		case c.stage == complete:
			*turn = Turn{Done, "all of its Instances have the new template and are Available"}
		case c.stage == released:
			*turn = Turn{Replacing, c.progress(c.unavailable)}
		case p.Paused:
			*turn = Turn{RolloutPaused, p.steps.Message}
		case p.pausing():
			*turn = Turn{PauseReached, pauseReached}
		default:
			*turn = Turn{Queued, "waits for its turn: another city waits before it"}
		}
	}
}

func (p *planner) count(at stage) int {
	count := 0
	for i := range p.cities {
		if p.cities[i].stage == at {
			count++
		}
	}
	return count
}
