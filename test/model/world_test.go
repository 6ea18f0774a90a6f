// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// stored is an object of an API server, and also a replica's cached version of it.
type stored[T any] struct {
	value   T
	version int
}

// workload is the Workload in the project.
type workload struct {
	target, complete string
	minimum          int32
	plan             map[string]v1alpha.AvailabilityFloor
	highest          int64
	// effective is the minimum that the condition reports to be in force.
	effective int32
	// replicas are how many Instances each city should have, also one that the spec no longer names, which is in leaving.
	replicas map[string]int
	leaving  map[string]bool
	// paused: no further Instance gets the target.
	paused bool
	// data is the content that the Workload is started with, and hold the one that an undo holds; both are nil in a world
	// without data, where target is all of the revision.
	data *v1alpha.WorkloadDataStatus
	hold *templates.Hold
}

// deployment is the WorkloadDeployment of a city in the project. The cells get its spec.
type deployment struct {
	spec  spec
	floor *v1alpha.AvailabilityFloor
	// Shown by hub/projection.
	sequence                     int64
	available, inForce, awaiting int32
	observed                     int
	instances                    []shown
	missing, cells               int
	overrides                    []override
}

// shown is an Instance as a cell reports it, with the template that its deployment had there.
type shown struct {
	rollout.Instance
	template string
}

// spec has the fields that a rollout changes.
type spec struct {
	generation int
	template   string
	partition  *rollout.Partition
	cautious   bool
	replicas   int
	surge      int
	turns      *turns
}

// lowest is the lowest index that gets a template; more than any: none.
func (s *spec) lowest(template string) int {
	switch {
	case s.template != template:
		return math.MaxInt
	case s.partition != nil:
		return s.partition.Index
	}
	return 0
}

// copied is the deployment on the hub: what the cells get, and what they report.
type copied struct {
	spec      spec
	suspended bool
	floor     *v1alpha.AvailabilityFloor
	cells     map[string]*v1alpha.AvailabilityFloor
	highest   int64
	reports   map[string]report
}

// sent has the fields that a cell receives.
type sent struct {
	spec  spec
	floor v1alpha.AvailabilityFloor
}

type report struct {
	observed            int
	template            string
	sequence            int64
	available, awaiting int32
	instances           []rollout.Instance
	missing             int
	override            override
}

// instance of a cell.
type instance struct {
	template, policy string
	available        bool
	// turned: it was replaced in the turn of its cell for an override.
	turned bool
}

type cell struct {
	name, city string
	indices    []int
	spec       spec
	suspended  bool
	floor      *v1alpha.AvailabilityFloor
	instances  map[int]*instance
	// policy is the override that new Instances get.
	policy string
	// turned are the indices of Instances that the cell has taken down in its turn for an override.
	turned map[int]bool
	// drained are the indices of Instances on cordoned nodes.
	drained map[int]bool
	// fresh are the indices of Instances whose failure the hub may not know of.
	fresh map[int]bool
	// excused are the indices of Instances that a failure or a drain has taken down. They may get a broken template that
	// is not their turn.
	excused map[int]bool
	// full: it has no capacity for additional Instances.
	full      bool
	cut, lost bool
	// vanished: it is lost for good.
	vanished bool
	// invented is the sequence that the cell reports in place of its own; 0: it reports its own.
	invented int64
	down     []sent
	up       []report
}

// replica is a process of the hub with its caches.
type replica struct {
	workload    stored[workload]
	deployments map[string]stored[deployment]
	copies      map[string]stored[copied]
}

type world struct {
	*rand.Rand
	broken      string
	parallel    bool
	atOnce      int
	batch       int
	workload    stored[workload]
	deployments map[string]stored[deployment]
	copies      map[string]stored[copied]
	cells       map[string]*cell
	// replicas are the one that has the project, and one that had it and has not noticed yet that it lost it.
	replicas []*replica
	// inForce is the minimum that voluntary disruptions may not miss.
	inForce int32
	// rotten is a template whose Instances do not start any more, as if its image was deleted. Available ones stay.
	rotten string
	// first is the template of a creation that is no rollout: if it is broken, it is broken everywhere.
	first string
	// free: no minimum holds steps of the rollout.
	free bool
	// quiet says that nothing fails and no node is drained: then the limit of the rollout holds at every moment.
	quiet bool
	// suspended says that the project is suspended: no Instance runs or is replaced. Only in some worlds that happens: it
	// hides mistakes, since all stopped Instances count as failures of which the hub may not know.
	suspends, suspended bool
	// calm says that no replica is killed at present.
	calm     bool
	versions int
	// opened is a step that a paused rollout has taken.
	opened                        error
	disruptions, rollouts, pauses int
	// sizes: the consumer scales cities, adds and removes some. resizes and removed count what happens.
	sizes bool
	// created tells objects of the same name apart.
	created          int
	resizes, removed int
	// turns are how many turns for overrides there were.
	turns int
	// data is the ConfigMap that the template names, and its snapshots; nil: the template names none.
	data *data
	// policies are random numbers of a world with override policies, and policyVersion is how many of them there were.
	policies      *rand.Rand
	policyVersion int
	// maxSurge is how many additional Instances a rollout may start, and idle says that nothing has happened for so long that
	// they are not awaited any more.
	maxSurge int
	idle     bool
	// plain: nothing rolls out. failures: Instances fail there. writes counts the writes of divisions.
	plain, failures bool
	writes          int
}

// isBroken reports whether no Instance becomes Available with a template, or with the data of it.
func isBroken(template string) bool { return strings.Contains(template, "broken") }

func clone[V any](of map[string]V) map[string]V {
	result := maps.Clone(of)
	if result == nil {
		result = map[string]V{}
	}
	return result
}

func (c copied) clone() copied {
	c.cells, c.reports = clone(c.cells), clone(c.reports)
	return c
}

func names[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

func (w *world) anyCell() *cell {
	all := names(w.cells)
	return w.cells[all[w.IntN(len(all))]]
}

func (w *world) anyCity() string {
	all := names(w.deployments)
	return all[w.IntN(len(all))]
}

func newWorld(seed uint64, broken string) *world {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 1)), broken: broken,
		deployments: map[string]stored[deployment]{}, copies: map[string]stored[copied]{}, cells: map[string]*cell{},
	}
	w.parallel, w.quiet = w.IntN(2) == 0, w.IntN(2) == 0
	w.atOnce, w.batch = 1+w.IntN(2), w.IntN(3)
	w.suspends = !w.quiet && w.IntN(3) == 0
	w.sizes = !w.quiet && w.IntN(2) == 0
	w.free = w.IntN(3) == 0 || broken == "reports on an earlier step"
	w.workload.value.target = "good-0"
	w.addData(seed)
	w.addSurge(seed)
	w.addPolicies(seed)
	w.addBudget(seed)
	w.workload.value.complete = w.workload.value.started()
	w.workload.value.replicas = map[string]int{}
	for n := range 1 + w.IntN(3) {
		city := fmt.Sprintf("city-%d", n)
		w.workload.value.replicas[city] = 1 + w.IntN(5)
		w.addCity(city, spec{generation: 1, template: w.workload.value.started(), replicas: w.workload.value.replicas[city]})
		for _, c := range w.cells {
			for _, index := range c.indices {
				c.instances[index] = &instance{template: w.workload.value.started(), available: true}
			}
		}
	}
	w.workload.value.minimum = w.anyMinimum()
	for range 2 {
		w.replicas = append(w.replicas, &replica{deployments: map[string]stored[deployment]{}, copies: map[string]stored[copied]{}})
	}
	w.settle()
	w.refreshAll(w.replicas[1])
	return w
}

// addCity adds a city with one or two cells.
func (w *world) addCity(city string, first spec) {
	w.deployments[city] = stored[deployment]{value: deployment{spec: first}, version: w.created + 1}
	onHub, cells := copied{spec: first}.clone(), min(1+w.IntN(2), first.replicas)
	for n := range cells {
		c := &cell{
			name: fmt.Sprintf("%s-cell-%d", city, n), city: city, spec: first, instances: map[int]*instance{},
			drained: map[int]bool{}, fresh: map[int]bool{}, excused: map[int]bool{}, full: w.anyFull(),
			turned: map[int]bool{},
		}
		w.cells[c.name], onHub.cells[c.name] = c, nil
	}
	for _, c := range w.cells {
		w.divideIndices(c)
	}
	w.copies[city] = stored[copied]{value: onHub, version: w.created + 1}
	// A city that is named again has other objects than before.
	w.created += 1000
}

// total is how many Instances the Workload wants.
func (w *world) total() (count int) {
	for city, replicas := range w.workload.value.replicas {
		if !w.workload.value.leaving[city] {
			count += replicas
		}
	}
	return count
}

// anyMinimum has most often some slack, and less than every city could use.
func (w *world) anyMinimum() int32 {
	if w.free {
		return 0
	}
	if w.plain {
		return w.plainMinimum()
	}
	return int32(max(0, w.total()-1-w.IntN(3)))
}

// limit is how many Instances a rollout may make unavailable in all cities.
func (w *world) limit() int { return max(1, w.total()/4) }

// room is how many Instances a cell takes down at once: more than the limit over all cities.
func room(n int) int { return max(1, n/2) }

// writeCopy is a write by Karmada, which does not depend on what a replica has cached.
func (w *world) writeCopy(city string, change func(*copied)) {
	before := w.copies[city]
	next := stored[copied]{value: before.value.clone(), version: before.version + 1}
	change(&next.value)
	w.copies[city] = next
}
