// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// MaxIndex is a partition above all Instances: none of them gets the new template.
const MaxIndex = 10000

// State is the project's view of a Workload's Instances.
type State struct {
	// Target is the hash of the wanted template.
	Target string
	// Proven: the target ran in all cities before and needs no canary.
	Proven bool
	// Paused: no Instance gets the target.
	Paused bool
	// Resumed: the pause at PauseAfter or PauseAfterFirst is over.
	Resumed bool
	// PauseAfter is the number of Available Instances with the target after which the rollout pauses; 0: none.
	PauseAfter int
	// PauseAfterFirst: the rollout pauses after the first city.
	PauseAfterFirst bool
	// Batch is how many Instances get the target at once; 0: any number.
	Batch int
	// MaxUnavailable is how many Instances may be unavailable in all cities together.
	MaxUnavailable int
	// NoSlack: the disruption budget lets no Available Instance be replaced.
	NoSlack bool
	// Slack is how many Available Instances the disruption budget lets be replaced; 0 without a budget.
	Slack int
	// MaxSurge is how many additional Instances may run in all cities together; SurgeSingle: one in each city with a
	// single Instance.
	MaxSurge int
	// CitiesAtOnce is how many cities are updated at once.
	CitiesAtOnce int
	// Cities are the Workload's deployments in the order in which they get the target.
	Cities []City
}

// City is one WorkloadDeployment.
type City struct {
	// Name of the deployment, and Code of the city.
	Name, Code string
	// Template is the hash of the deployment's template.
	Template string
	// Partition is the partition of the deployment; nil: none.
	Partition *Partition
	// Observed: the cells have acted on the newest generation of the deployment.
	Observed bool
	// Instances that exist, ascending by index.
	Instances []Instance
	// Missing is how many Instances the cells should have and do not have.
	Missing int
	// Cells is how many cells report.
	Cells int
	// Room is how many Instances the cells take down at once by themselves.
	Room int
	// Ordered: the cells create an Instance when the Instances with lower indices are Available.
	Ordered bool
	// Desired is how many Instances should run. Autoscaled: its cells decide about the number themselves.
	Desired    int
	Autoscaled bool
	// Surge is the number of additional Instances of the deployment. NoSurge: it may not have any. SurgeLate: its cells
	// cannot start its additional Instances.
	Surge              int
	NoSurge, SurgeLate bool
	// Slack is how much of the budget's slack the city has.
	Slack int
	// Overrides are the cells with Instances that wait for a template which reached all cells at once, by name. Turns reports
	// whether any cell of the city has had its turn for one.
	Overrides []Override
	Turns     bool
	// Unserved says that the city has no cell, and Unreachable that the path from one of its cells is broken.
	Unserved, Unreachable bool
}

// Partition divides the Instances of a city by their index.
type Partition struct {
	// Index is the lowest index that gets the template of the deployment.
	Index int
	// Indices are the Instances from Index on that get it, as naming.Format writes them; "": all of them.
	Indices string
	// Template is the hash of the template of the other Instances.
	Template string
}

// Keeps reports whether the Instance at an index keeps the earlier template. p may be nil: no Instance does.
func (p *Partition) Keeps(index int) bool {
	return p != nil && (index < p.Index || p.Indices != "" && !naming.Contains(p.Indices, index))
}

// Override is a cell with Instances that are to get a template that Karmada has sent to all cells at once: an override
// policy has changed it, or a backup was restored.
type Override struct {
	Cell string
	// Template is the hash of the template that the cell has received. Instances is how many Instances do not have it yet.
	// Sent: it is the template of the Workload itself.
	Template  string
	Instances int
	Sent      bool
	// Given: the cell has its turn for this template.
	Given bool
}

// Instance is one Instance of a city.
type Instance struct {
	// Index in its deployment.
	Index int
	// Updated: it has the template of its deployment.
	Updated bool
	// Available: it has been Ready for minReadySeconds.
	Available bool
	// Held: it waits for quota.
	Held bool
}

// Sort orders cities: first the cities that first names, in that order, then the others by code and name.
func Sort(cities []City, first []string) {
	place := func(c *City) int {
		if at := slices.IndexFunc(first, func(code string) bool { return strings.EqualFold(code, c.Code) }); at >= 0 {
			return at
		}
		return len(first)
	}
	slices.SortStableFunc(cities, func(a, b City) int {
		return cmp.Or(cmp.Compare(place(&a), place(&b)), strings.Compare(a.Code, b.Code), strings.Compare(a.Name, b.Name))
	})
}

// Newcomer returns the template of a city that has no deployment yet: the target if no city has another template, else
// the template of the next city in turn.
func Newcomer(s *State) string {
	for i := range s.Cities {
		if c := s.factsOf(i); c.stage == waiting || c.stage == partitioned {
			return c.stable()
		}
	}
	return s.Target
}

// Unfinished reports whether a city waits for the target, or has it for some of its Instances.
func Unfinished(s *State) bool {
	return slices.ContainsFunc(s.Cities, func(c City) bool {
		at := c.stageTo(s.Target)
		return at == waiting || at == partitioned
	})
}

// Updated reports whether all Instances that exist have the target, available or not.
func Updated(s *State) bool {
	return !Unfinished(s) && !slices.ContainsFunc(s.Cities, func(c City) bool { return len(c.withoutTarget(s.Target)) > 0 })
}
