// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"strings"
)

// SurgeSingle is the MaxSurge of Workloads that do not set it: each city with a single Instance gets an additional one.
const SurgeSingle = -1

// advance takes the next step of a city that has a partition, if its Instances with the target are Available.
func (p *planner) advance(c *facts) {
	switch {
	case !c.Observed:
		p.wait(c, NotReported, "its cells have not reported the last step")
	case c.stopped():
		p.take(c, Step{Released: true}, "")
	case c.Surge > 0 && c.SurgeLate:
		// Its cells cannot start the additional Instances: the others are replaced without them.
		p.take(c, Step{Index: c.Partition.Index}, "")
	case p.takesBack(c) || c.isStuck():
		p.takeBack(c)
	case c.pending > 0:
		p.wait(c, NotAvailable, c.progress(c.pending))
	case c.awaitsSurge():
		p.wait(c, AwaitsAdditional, "waits for an additional Instance")
	case len(c.outdated) == 0 && c.Missing == 0 && len(c.Instances) > 0 && !p.holdsGrowth(c, 0):
		p.take(c, Step{Released: true, Surge: c.Surge}, "")
	case p.pausing():
	case p.awaitsFirst(c):
		p.wait(c, AwaitsFirst, "waits for the first Instance with the new template, in another city")
	default:
		p.give(c)
	}
}

// takesBack reports whether a city has to wait for the repair of others: its cells have not begun to replace the
// Instances that got the target.
func (p *planner) takesBack(c *facts) bool {
	return p.repairing && !c.awaitsSurge() && c.pending > 0 && c.unavailable == 0
}

// takeBack keeps the target from the Instances of a city that do not have it yet.
func (p *planner) takeBack(c *facts) {
	why := "an unavailable Instance with the earlier template holds up the others: it gets the new template first"
	if p.repairing {
		why = p.repair()
	}
	p.take(c, c.held(), why)
}

// awaitsFirst reports whether another city has the first Instance with the target, which is not Available yet: that
// city was repaired before its turn.
func (p *planner) awaitsFirst(c *facts) bool {
	return !p.passed && slices.ContainsFunc(p.cities, func(other facts) bool {
		return other.at != c.at && other.stage == partitioned && (!other.Observed || other.pending > 0)
	})
}

// endSurge removes the additional Instances of a city once the others have the target and are Available, or if its
// cells cannot start them.
func (p *planner) endSurge(c *facts) {
	kept := c.kept()
	incomplete := func(i Instance) bool { return !i.Updated || !i.Available && !i.Held }
	if c.Unserved || c.SurgeLate || c.Observed && len(kept) >= c.Desired && !slices.ContainsFunc(kept, incomplete) {
		p.take(c, Step{Released: true}, "")
	}
}

// give gives a city as many more Instances with the target as are allowed.
func (p *planner) give(c *facts) {
	offered := p.offer(c)
	p.left -= offered.cost
	if offered.why != "" {
		p.wait(c, offered.why, offered.message)
		return
	}
	p.take(c, offered.step, "")
}

// offered is a step, or the reason against a step.
type offered struct {
	step Step
	// cost is how many more Instances the step makes unavailable.
	cost    int
	why     Reason
	message string
}

// offer returns what a city gets: the first that applies.
func (p *planner) offer(c *facts) offered {
	p.left += c.cost() - c.lacking(c.unavailable)
	if step := p.additional(c); step != nil {
		return offered{step: *step}
	}
	if p.repairing {
		if found := p.correction(c, false); c.broken && found != nil {
			return *found
		}
		return offered{why: Repair, message: p.repair()}
	}

	more := len(c.outdated)
	all := Step{Released: true, Surge: c.Surge}
	if p.holdsGrowth(c, more) {
		all = Step{}
	}
	whole := c.returns || p.passed && p.Batch == 0 && !p.limited(more)
	if extra, fits := c.whole(p.left); whole && fits {
		return offered{step: all, cost: extra}
	}
	if found := p.correction(c, whole); found != nil {
		return *found
	}
	if p.left < 1 {
		return offered{why: Limit, message: fmt.Sprintf("waits: with one Instance more, %d would be unavailable, and maxUnavailable "+
			"allows %d; repair them, or raise spec.rollout.maxUnavailable", p.MaxUnavailable-p.left+1, p.MaxUnavailable)}
	}

	switch limit := p.atOnce(); {
	case !p.passed:
		return offered{step: Step{Index: c.canary(), Surge: c.Surge}, cost: 1}
	case limit >= more:
		return offered{step: all, cost: more}
	default:
		return offered{step: Step{Index: c.outdated[more-limit].Index, Surge: c.Surge}, cost: limit}
	}
}

// correction gives the target to Instances that are unavailable, or that an earlier rollout was replacing; nil without
// such Instances. whole: all Instances of the city may get it.
func (p *planner) correction(c *facts, whole bool) *offered {
	if index, cost, found := p.inFlight(c); found {
		return &offered{step: Step{Index: index, Cautious: true, Surge: c.Surge}, cost: cost}
	}
	if index, cost, found := p.broken(c, whole); found {
		return &offered{step: Step{Index: index, Cautious: true, Surge: c.Surge}, cost: cost}
	}
	return nil
}

// inFlight returns from which index on Instances get the target that an earlier rollout was replacing.
func (p *planner) inFlight(c *facts) (index, cost int, found bool) {
	switch {
	case c.stage != waiting:
	case c.Partition != nil && c.Partition.Index < MaxIndex && c.pending > 0 && !p.passed:
		// The highest is the canary. The others get their earlier template.
		return c.replacing(), c.behind(), true
	case c.Partition == nil && c.Cells > 0 && c.unfinished > 0:
		// Its cells may be replacing any of these Instances now: one at a time from here on.
		index, _ := highest(c.Instances, func(i Instance) bool { return !i.Updated })
		cost, _ := c.whole(p.left)
		return index, cost, true
	}
	return 0, 0, false
}

// broken returns from which index on Instances get the target that are unavailable. They are replaced at once,
// regardless of the limit: a broken template must not block its correction.
func (p *planner) broken(c *facts, whole bool) (index, cost int, found bool) {
	switch {
	case whole && c.broken && !c.returns && p.left < 1:
		// A report does not show whether Instances are broken or still start. Instances that are Available by then,
		// and Available ones with higher indices, are replaced one at a time.
		return c.lowest(), 0, true
	case !p.passed && c.createsNext():
		return c.missing(), 0, true
	case c.returns && (c.broken || c.pending > 0):
		// Only these Instances have another template than the one that the city returns to.
		return c.Partition.Index, c.behind(), true
	case c.broken && p.isAlone(c):
		return c.worst, 0, true
	}
	return 0, 0, false
}

// isAlone reports whether only the unavailable Instances of a city may get the target now.
func (p *planner) isAlone(c *facts) bool {
	reset := c.Partition != nil && c.Partition.Index == MaxIndex
	return p.left < 1 || p.repairing || reset || c.Cells < 2 && !p.passed
}

// additional gives a waiting city additional Instances, or gives the target to its additional Instances that do not
// exist yet. They have the highest indices, and all others keep their template. nil: neither applies.
func (p *planner) additional(c *facts) *Step {
	if c.stage != waiting {
		return nil
	}
	if surge := p.surge(c); surge > 0 {
		return &Step{Index: c.Instances[len(c.Instances)-1].Index + 1, Surge: surge}
	}
	if !c.returns && c.awaitsSurge() && c.Partition != nil && c.isBelow() {
		return &Step{Index: c.Partition.Index, Surge: c.Surge}
	}
	return nil
}

// surge is how many additional Instances a city gets before its Instances are replaced. A city where an Instance is
// unavailable, or waits for quota, gets none: nothing is gained by it.
func (p *planner) surge(c *facts) int {
	limit := p.surgeLimit(c)
	switch {
	case c.Surge > 0 || c.returns && c.isBelow() || !c.isWhole():
		return 0
	case !p.passed:
		// The first Instance with the target is alone.
		return min(limit, 1)
	case p.Batch > 0:
		return min(limit, p.Batch)
	}
	return limit
}

// surgeLimit is how many additional Instances a city may have now.
func (p *planner) surgeLimit(c *facts) int {
	switch {
	case c.NoSurge:
		return 0
	case p.MaxSurge == SurgeSingle && c.Desired == 1:
		return 1
	case p.MaxSurge == SurgeSingle:
		return 0
	}
	left := p.MaxSurge
	for i := range p.cities {
		surge := p.cities[i].Surge
		for _, step := range p.steps.Take {
			if step.City == i {
				surge = max(surge, step.Surge)
			}
		}
		left -= surge
	}
	return max(0, min(c.Desired, left))
}

// limited reports whether the rollout pauses before so many more Instances have the target.
func (p *planner) limited(more int) bool {
	return p.PauseAfter > 0 && !p.Resumed && p.updated+more > p.PauseAfter
}

// holdsGrowth reports whether a city keeps a partition although all of its Instances get the target: with so many more, the
// rollout pauses, and what an autoscaler adds during the pause gets the earlier template.
func (p *planner) holdsGrowth(c *facts, more int) bool {
	return c.Autoscaled && !c.returns && p.PauseAfter > 0 && !p.Resumed && p.updated+more >= p.PauseAfter
}

// atOnce returns how many Instances may get the target at once.
func (p *planner) atOnce() int {
	limit := p.left
	if p.Batch > 0 {
		limit = min(limit, p.Batch)
	}
	if p.PauseAfter > 0 && !p.Resumed {
		limit = min(limit, p.PauseAfter-p.updated)
	}
	return max(1, limit)
}

// repair says why a city waits for the repair of others.
func (p *planner) repair() string {
	if p.NoSlack {
		return "waits: the disruption budget lets no Available Instance be replaced; the unavailable ones get the new template first"
	}
	return "waits: the slack of the disruption budget is in cities with unavailable Instances; these get the new template first"
}

func list(names []string) string { return strings.Join(names, ", ") }
