// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// The model has the stored objects, caches of two replicas, messages in flight, and cells with Instances. Each step is
// one action that the real system may take next. The hub's actions follow its controllers, with Divide and Newest.

// stored is an object of an API server, and also a replica's cached version of it.
type stored[T any] struct {
	value   T
	version int
}

// workload is the Workload in the project: its spec and the plan in its status.
type workload struct {
	minimum int32
	// leaving are the cities that the spec no longer names.
	leaving map[string]bool
	plan    map[string]v1alpha.AvailabilityFloor
	highest int64
	// effective is the minimum that the condition reports to be in force.
	effective int32
}

// deployment is the WorkloadDeployment of a city in the project.
type deployment struct {
	floor                        *v1alpha.AvailabilityFloor
	sequence                     int64
	available, inForce, awaiting int32
}

// copied is the deployment on the hub: the spec that the cells get, and their reports.
type copied struct {
	floor   *v1alpha.AvailabilityFloor
	cells   map[string]*v1alpha.AvailabilityFloor
	highest int64
	reports map[string]report
}

type report struct {
	sequence            int64
	available, awaiting int32
}

// instance is up, or down by a disruption, or by a failure. A fresh failure is one that the hub may not know of.
type instance struct{ down, failed, fresh bool }

type cell struct {
	name, city string
	instances  []*instance
	floor      *v1alpha.AvailabilityFloor
	awaiting   int32
	// invented is the sequence that the cell reports in place of its own; 0: it reports its own.
	invented  int64
	cut, lost bool
	down      []v1alpha.AvailabilityFloor
	up        []report
}

func (c *cell) available() (count int32) {
	for _, one := range c.instances {
		if !one.down && !one.failed {
			count++
		}
	}
	return count
}

func (c *cell) desired() int32 { return int32(len(c.instances)) }

// replica is a process of the hub with its caches.
type replica struct {
	workload    stored[workload]
	deployments map[string]stored[deployment]
	copies      map[string]stored[copied]
}

type world struct {
	*rand.Rand
	broken      string
	workload    stored[workload]
	deployments map[string]stored[deployment]
	copies      map[string]stored[copied]
	cells       map[string]*cell
	// replicas are the replica that has the project, and a replica that has lost the project and has not noticed that yet.
	replicas []*replica
	// inForce is the minimum that voluntary disruptions may not miss.
	inForce  int32
	failures bool
	// calm reports that no replica is killed at present.
	calm  bool
	named int
	// disruptions counts voluntary ones, and writes counts the writes of divisions.
	disruptions, writes int
}

func clone[V any](of map[string]V) map[string]V {
	result := maps.Clone(of)
	if result == nil {
		result = map[string]V{}
	}
	return result
}

func (w workload) clone() workload {
	w.leaving, w.plan = clone(w.leaving), clone(w.plan)
	return w
}

func (c copied) clone() copied {
	c.cells, c.reports = clone(c.cells), clone(c.reports)
	return c
}

func (w *world) pick(of map[string]*cell) *cell {
	names := slices.Sorted(maps.Keys(of))
	if len(names) == 0 {
		return nil
	}
	return of[names[w.IntN(len(names))]]
}

func pickName[V any](w *world, of map[string]V) string {
	names := slices.Sorted(maps.Keys(of))
	return names[w.IntN(len(names))]
}

func newWorld(seed uint64, broken string) *world {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 1)), broken: broken,
		deployments: map[string]stored[deployment]{}, copies: map[string]stored[copied]{}, cells: map[string]*cell{},
	}
	w.failures = w.IntN(2) == 0
	for range 1 + w.IntN(2) {
		w.addCity()
	}
	w.workload.value = workload{minimum: w.anyMinimum()}
	for range 2 {
		w.replicas = append(w.replicas, &replica{deployments: map[string]stored[deployment]{}, copies: map[string]stored[copied]{}})
	}
	w.settle()
	return w
}

func (w *world) anyMinimum() int32 {
	total := 0
	for _, c := range w.cells {
		total += len(c.instances)
	}
	if total == 0 {
		return 0
	}
	switch w.IntN(8) {
	case 0:
		return int32(w.IntN(total + 2))
	case 1, 2:
		// The others suffice while one cell is lost.
		return int32(total) - w.pick(w.cells).desired()
	}
	// Most often there is some slack, and less than every city could use.
	return int32(max(0, total-1-w.IntN(3)))
}

func (w *world) addCity() {
	w.named++
	city := fmt.Sprintf("city-%d", w.named)
	w.deployments[city], w.copies[city] = stored[deployment]{version: 1}, stored[copied]{version: 1}
	for range 1 + w.IntN(2) {
		w.addCell(city)
	}
}

// addCell adds a cell whose Instances are not Available yet.
func (w *world) addCell(city string) {
	w.named++
	c := &cell{name: fmt.Sprintf("%s-cell-%d", city, w.named), city: city}
	for range 1 + w.IntN(4) {
		c.instances = append(c.instances, &instance{down: true})
	}
	w.cells[c.name] = c
	w.writeCopy(city, func(copied *copied) { copied.cells[c.name] = nil })
}

// writeCopy is a write by Karmada or an operator, which does not depend on a replica's cache.
func (w *world) writeCopy(city string, change func(*copied)) {
	before, exists := w.copies[city]
	if !exists {
		return
	}
	next := stored[copied]{value: before.value.clone(), version: before.version + 1}
	change(&next.value)
	w.copies[city] = next
}

// step takes one action. It returns the violation of a voluntary disruption.
func (w *world) step() error {
	c := w.pick(w.cells)
	switch n := w.IntN(100); {
	case n < 25:
		w.reconcile()
	case n < 45:
		w.refresh()
	case n < 68 && c != nil:
		w.deliver(c)
	case n < 80 && c != nil:
		return w.disruptAll()
	case n < 94 && c != nil:
		w.change(c)
	case n < 95:
		w.operate()
	case n < 97 && c != nil:
		w.cutOff(c)
	default:
		w.settle()
		for _, name := range slices.Sorted(maps.Keys(w.cells)) {
			w.cells[name].cut, w.cells[name].lost = false, false
		}
	}
	if err := w.remove(); err != nil {
		return err
	}
	return w.foresee()
}

// cutOff cuts a cell off or connects it. A lost cell often has failures. A clock that is ahead judges a cell to be lost
// that is not.
func (w *world) cutOff(c *cell) {
	c.cut = !c.cut && w.IntN(3) > 0
	c.lost = c.cut && w.IntN(2) == 0 || w.IntN(8) == 0
	for _, one := range c.instances {
		if c.cut && c.lost && w.failures && !one.down && !one.failed && w.IntN(2) == 0 {
			*one = instance{failed: true, fresh: true}
		}
	}
}

// change lets one Instance start or fail, or the cell await disruptions.
func (w *world) change(c *cell) {
	if len(c.instances) == 0 {
		return
	}
	one := c.instances[w.IntN(len(c.instances))]
	if w.IntN(40) == 0 {
		// Far from every sequence of the hub, so that it is not by chance the one of a floor that the cell does not apply.
		c.invented = []int64{0, 0, -1, 1 << (20 + w.IntN(43)), MaxSequence + 1}[w.IntN(5)]
	}
	switch {
	case one.down || one.failed:
		for _, one := range c.instances {
			if (!c.lost || !c.cut) && w.IntN(3) > 0 {
				*one = instance{}
			}
		}
	case w.failures && w.IntN(4) == 0:
		*one = instance{failed: true, fresh: true}
	default:
		// Tokens move most between cells that begin and cease to await disruptions.
		if w.IntN(2) == 0 {
			for _, other := range w.cells {
				other.awaiting = 0
			}
		}
		c.awaiting = int32(w.IntN(len(c.instances) + 1))
	}
}

// operate is an action of an operator or a consumer: another minimum, another city, one city less, another cell, a cell
// that is lost permanently.
func (w *world) operate() {
	next := w.workload.value.clone()
	switch w.IntN(8) {
	case 0:
		next.minimum = w.anyMinimum()
		w.inForce = min(w.inForce, next.minimum)
	case 1:
		if len(w.deployments) < 4 {
			w.addCity()
		}
	case 2:
		if len(w.deployments) > 1 {
			next.leaving[pickName(w, w.deployments)] = true
		}
	case 3:
		if len(w.cells) < 8 && len(w.deployments) > 0 {
			w.addCell(pickName(w, w.deployments))
		}
	case 4:
		if c := w.pick(w.cells); c != nil && w.failures && w.IntN(3) == 0 {
			c.vanish()
		}
	}
	w.workload = stored[workload]{value: next, version: w.workload.version + 1}
}

// vanish removes the cell permanently. Its Instances count as fresh failures until the hub has learned of it.
func (c *cell) vanish() {
	for _, one := range c.instances {
		one.fresh = one.fresh || !one.failed && !one.down
		one.failed, one.down = true, false
	}
	c.cut, c.lost = true, true
}

// deliver moves a message down or up: late, twice, out of order, or never.
func (w *world) deliver(c *cell) {
	if copied, exists := w.copies[c.city]; exists && copied.value.cells[c.name] != nil {
		c.down = send(c.down, *copied.value.cells[c.name])
	}
	c.up = send(c.up, c.report())
	if c.cut || w.IntN(4) == 0 {
		return
	}
	if len(c.down) > 0 && w.IntN(2) == 0 {
		c.receive(w, c.down[len(c.down)-1-w.late(len(c.down))])
	}
	if arrived := c.up[len(c.up)-1-w.late(len(c.up))]; w.IntN(2) == 0 {
		w.writeCopy(c.city, func(copied *copied) { copied.reports[c.name] = arrived })
	}
}

// late is the number of messages that have overtaken the arriving one.
func (w *world) late(sent int) int {
	switch w.IntN(6) {
	case 0:
		return sent - 1
	case 1, 2:
		return w.IntN(sent)
	}
	return 0
}

// send keeps the last messages of a direction.
func send[T comparable](sent []T, next T) []T {
	const most = 6
	if len(sent) == 0 || sent[len(sent)-1] != next {
		sent = append(sent, next)
	}
	return sent[max(0, len(sent)-most):]
}

func (c *cell) receive(w *world, floor v1alpha.AvailabilityFloor) {
	if newest := Newest(c.floor, &floor); w.broken != "a cell goes back to an earlier floor" && newest == c.floor {
		return
	}
	if w.broken == "a confirmation with an earlier count" {
		early := c.report()
		early.sequence = floor.Sequence
		for _, one := range c.instances {
			if one.down {
				early.available++
			}
		}
		c.up = send(c.up, early)
	}
	c.floor = &floor
}

func (c *cell) report() report {
	result := report{available: c.available(), awaiting: c.awaiting}
	if c.floor != nil {
		result.sequence = c.floor.Sequence
	}
	if c.invented != 0 {
		result.sequence = c.invented
	}
	return result
}

func (w *world) disruptAll() error {
	for _, name := range slices.Sorted(maps.Keys(w.cells)) {
		if err := w.disrupt(w.cells[name]); err != nil {
			return err
		}
	}
	return nil
}

// disrupt takes Instances down as fast as the floor of the cell allows.
func (w *world) disrupt(c *cell) error {
	for _, one := range c.instances {
		if one.down || one.failed || c.floor == nil || c.available() <= c.floor.MinAvailable || w.IntN(5) == 0 {
			continue
		}
		one.down = true
		c.awaiting = max(0, c.awaiting-1)
		w.disruptions++
		if err := w.check("a disruption in " + c.name); err != nil {
			return err
		}
	}
	return nil
}
