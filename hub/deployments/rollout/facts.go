// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// stage is the progress of a city towards the target.
type stage int

const (
	// waiting cities have an earlier template.
	waiting stage = iota
	// partitioned cities have the target for the Instances that their partition allows.
	partitioned
	// released cities have the target for all Instances, and complete ones are done.
	released
	complete
)

// facts are a City with what follows from it.
type facts struct {
	*City
	// at is its position in the State.
	at    int
	stage stage
	// returns: the template of its partition is the target.
	returns bool
	// outdated are its Instances without the target.
	outdated []Instance
	// unavailable is how many Instances are not Available. An Instance that waits for quota does not count: it waits for
	// its project.
	unavailable int
	// pending is how many Instances are allowed to have the template of the deployment and are not Available with it.
	pending int
	// unfinished is how many Instances its cells may be about to replace.
	unfinished int
	// broken: Instances without the target are unavailable; worst is the highest index of these.
	broken bool
	worst  int
}

func (s *State) factsOf(at int) facts {
	c := facts{City: &s.Cities[at], at: at}
	c.outdated, c.stage = c.withoutTarget(s.Target), c.stageTo(s.Target)
	c.returns = c.Partition != nil && c.Partition.Template == s.Target
	c.unavailable = c.countUnavailable()
	c.worst, c.broken = highest(c.outdated, isUnavailable)
	for _, instance := range c.Instances {
		if !c.Observed || !instance.Updated {
			c.unfinished++
		}
	}
	if c.Partition != nil {
		c.pending = c.countPending()
	}
	return c
}

func isUnavailable(i Instance) bool { return !i.Available && !i.Held }

func highest(instances []Instance, fits func(Instance) bool) (index int, found bool) {
	for _, instance := range slices.Backward(instances) {
		if fits(instance) {
			return instance.Index, true
		}
	}
	return 0, false
}

func (c *City) stageTo(target string) stage {
	switch {
	case c.Template != target:
		return waiting
	case c.Partition != nil:
		return partitioned
	case c.Surge > 0:
		return released
	case c.Unserved, c.Observed && c.stopped():
		return complete
	case c.Observed && len(c.Instances) > 0 && len(c.withoutTarget(target)) == 0 && c.countUnavailable() == 0:
		return complete
	}
	return released
}

// stopped reports whether a city has no Instances, and is to have none.
func (c *City) stopped() bool { return c.Desired == 0 && len(c.Instances) == 0 }

// withoutTarget returns the Instances of a city without the target.
func (c *City) withoutTarget(target string) []Instance {
	if c.Template != target {
		return c.Instances
	}
	return slices.DeleteFunc(slices.Clone(c.Instances), func(i Instance) bool { return i.Updated })
}

func (c *City) countUnavailable() int {
	count := c.Missing
	for _, instance := range c.Instances {
		if isUnavailable(instance) {
			count++
		}
	}
	return count
}

func (c *City) countPending() int {
	count, allowed := 0, c.Desired+c.Surge-c.Partition.Index
	if c.Partition.Indices != "" {
		allowed = len(naming.Parse(c.Partition.Indices))
	}
	for _, instance := range c.Instances {
		kept := c.Partition.Keeps(instance.Index)
		if !kept {
			allowed--
		}
		switch {
		case instance.Updated && (instance.Available || instance.Held):
		case instance.Updated || !kept:
			count++
		}
	}
	return count + max(0, min(c.Missing, allowed))
}

// updatedAvailable returns how many Instances have the target and are Available.
func (c *City) updatedAvailable(target string) int {
	count := 0
	for _, instance := range c.Instances {
		if c.Template == target && instance.Updated && instance.Available {
			count++
		}
	}
	return count
}

// Broken returns the indices of the Instances that have the template of the deployment, are not Available, and do not
// wait for quota.
func (c *City) Broken() []int {
	var indices []int
	for _, instance := range c.Instances {
		if instance.Updated && isUnavailable(instance) {
			indices = append(indices, instance.Index)
		}
	}
	return indices
}

// isActive reports whether Instances of a city may be changing to the target.
func (c *facts) isActive() bool { return c.stage == partitioned || c.stage == released }

// stable is the template of the Instances that do not get the target yet.
func (c *facts) stable() string {
	if c.Partition != nil {
		return c.Partition.Template
	}
	return c.Template
}

// held keeps the target from the Instances of a city that do not have it yet.
func (c *facts) held() Step { return Step{Held: true, Index: MaxIndex, Surge: c.Surge} }

// progress describes the progress of a city, of whose Instances with the target so many are unavailable.
func (c *facts) progress(unavailable int) string {
	return fmt.Sprintf("%d of %d Instances have the new template, %d are not Available",
		min(len(c.Instances)-len(c.outdated), c.Desired), c.Desired, unavailable)
}

// behind is how many Available Instances are still to be replaced by the template of the deployment.
func (c *facts) behind() int { return max(0, c.pending-c.unavailable) }

// lacking is how many Instances a city lacks of the desired ones while so many are unavailable. Additional ones make up
// for them.
func (c *facts) lacking(unavailable int) int { return max(0, unavailable-c.Surge) }

// cost is how many Instances of a city are unavailable, or may be before its next report. Until its cells have reported
// the last step, they may act on any before it, and a late report may show the target where it no longer is.
func (c *facts) cost() int {
	affected := max(c.unavailable, c.pending)
	if c.Cells > 0 && c.stage != complete && (c.Partition == nil || !c.Observed) {
		affected = max(affected, min(c.Room, c.unfinished+c.unavailable))
	}
	if turn := c.overriding(); turn > 0 && c.Partition == nil {
		affected = max(affected, min(c.Room, turn+c.unavailable))
	}
	return c.lacking(affected)
}

// whole returns how many more Instances become unavailable when the cells of a city may replace all, and whether that
// fits the limit, also if the unavailable Instances only start and are Available by then.
func (c *facts) whole(spare int) (extra int, fits bool) {
	limit, now := min(c.Room, len(c.outdated)+c.unavailable), c.lacking(c.unavailable)
	return c.lacking(max(c.unavailable, limit)) - now, c.lacking(limit) <= max(0, spare+now)
}

// waitsForRepair reports whether a city has unavailable Instances that have neither the target nor a turn.
func (c *facts) waitsForRepair() bool {
	turned := c.stage == partitioned && !c.Partition.Keeps(c.worst)
	return c.broken && !c.Unreachable && c.Cells > 0 && (c.stage == waiting || c.stage == partitioned) && !turned
}

// isStuck reports whether the Instances that have their turn wait for one that does not: it is unavailable, the earlier
// template may not start any more, and the cells' own limit or order holds up the others. The cells have not begun with
// any of them.
func (c *facts) isStuck() bool {
	if !c.broken || !c.Partition.Keeps(c.worst) || c.awaitsSurge() || c.pending == 0 || c.Unreachable || c.Missing > 0 && !c.Ordered {
		return false
	}
	return !slices.ContainsFunc(c.Instances, func(i Instance) bool { return i.Updated && !i.Available })
}

// canary returns the index of the first Instance of a city that gets the target: the highest one that does not wait for
// quota.
func (c *facts) canary() int {
	if index, found := highest(c.Instances, func(i Instance) bool { return !i.Held }); found {
		return index
	}
	if len(c.Instances) > 0 {
		return c.Instances[len(c.Instances)-1].Index
	}
	return max(0, c.Desired+c.Surge-1)
}

// missing returns an index that is created next and can be the canary.
func (c *facts) missing() int {
	if c.Ordered && len(c.Instances) == 0 {
		return 0
	}
	return max(c.canary(), c.Desired+c.Surge-1)
}

// createsNext reports whether the cells create an Instance next, before they replace one.
func (c *facts) createsNext() bool { return c.Missing > 0 && (!c.Ordered || !c.broken) }

// lowest returns the lowest index of the unavailable Instances without the target.
func (c *facts) lowest() int {
	return c.outdated[slices.IndexFunc(c.outdated, isUnavailable)].Index
}

// replacing returns the highest index of an Instance that is allowed to have the template of the deployment and is not
// Available with it.
func (c *facts) replacing() int {
	if index, found := highest(c.Instances, func(i Instance) bool {
		return !c.Partition.Keeps(i.Index) && (!i.Updated || isUnavailable(i))
	}); found {
		return index
	}
	return c.Partition.Index
}

// isBelow reports whether the partition of a city keeps all of its Instances.
func (c *facts) isBelow() bool {
	return !slices.ContainsFunc(c.Instances, func(i Instance) bool { return !c.Partition.Keeps(i.Index) })
}

// isWhole reports whether a city has all of its Instances, they are Available, and its cells are not replacing any of
// them.
func (c *facts) isWhole() bool {
	if len(c.Instances) != c.Desired || c.Desired == 0 || c.unavailable > 0 {
		return false
	}
	held := slices.ContainsFunc(c.Instances, func(i Instance) bool { return i.Held })
	if held || c.Instances[len(c.Instances)-1].Index+c.Desired >= MaxIndex {
		return false
	}
	if c.Partition != nil {
		return c.pending == 0
	}
	return c.unfinished == 0
}

// awaitsSurge reports whether additional Instances of a city do not exist yet, or wait for quota.
func (c *facts) awaitsSurge() bool {
	started := 0
	for _, instance := range c.Instances {
		if !instance.Held {
			started++
		}
	}
	return c.Surge > 0 && started < c.Desired+c.Surge
}

// kept are the Instances of a city that stay when its additional ones are removed: where one cell has them all, those
// with the lowest indices. They may be any while that is not known; nil: one of them may be missing.
func (c *facts) kept() []Instance {
	switch {
	case c.Cells == 1 && len(c.Instances) >= c.Desired && (c.Missing == 0 || c.Desired == 0 || c.Instances[c.Desired-1].Index == c.Desired-1):
		return c.Instances[:c.Desired]
	case c.Missing > 0:
		return nil
	}
	return c.Instances
}
