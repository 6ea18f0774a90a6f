// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// refresh brings one object of a replica's caches up to date.
func (w *world) refresh() {
	r, city := w.anyReplica(), w.anyCity()
	switch w.IntN(3) {
	case 0:
		r.workload = w.workload
	case 1:
		r.deployments[city] = w.deployments[city]
	case 2:
		r.copies[city] = w.copies[city]
	}
}

func (w *world) refreshAll(r *replica) {
	r.workload, r.deployments, r.copies = w.workload, maps.Clone(w.deployments), maps.Clone(w.copies)
}

// anyReplica is most often the one that has the project. The other one has its old caches for long, and may take over.
func (w *world) anyReplica() *replica {
	switch w.IntN(12) {
	case 0, 1, 2:
		return w.replicas[1]
	case 3:
		slices.Reverse(w.replicas)
	}
	return w.replicas[0]
}

func (w *world) reconcile() error {
	r, city := w.anyReplica(), w.anyCity()
	if r == w.replicas[0] && w.IntN(2) == 0 {
		w.refreshAll(r)
	}
	if w.sizes && w.IntN(4) == 0 {
		return w.resizeCities(r)
	}
	switch w.IntN(5) {
	case 0:
		w.divideWorkload(r)
	case 1, 2:
		w.rollOut(r)
	case 3:
		// The caches of the hub and of the project are not in order.
		if w.IntN(2) == 0 {
			r.copies[city] = w.copies[city]
		}
		w.propagate(r, city)
	case 4:
		w.project(r, city)
	}
	return nil
}

// killed reports whether a replica is killed at this moment.
func (w *world) killed() bool { return !w.calm && w.IntN(10) == 0 }

// state returns the state of the rollout as a replica sees it.
func (w *world) state(r *replica) (rollout.State, []string) {
	target := r.workload.value.started()
	s := rollout.State{
		Target: target, Proven: r.workload.value.complete == target, CitiesAtOnce: w.atOnce, Batch: w.batch, MaxUnavailable: w.limit(),
		Paused: r.workload.value.paused, MaxSurge: w.maxSurge,
	}
	cities := slices.DeleteFunc(names(r.deployments), func(city string) bool { return r.workload.value.leaving[city] })
	available := int32(0)
	for _, name := range cities {
		d := r.deployments[name].value
		available += d.available
		city := rollout.City{
			Name: name, Code: name, Template: d.spec.template, Partition: d.spec.partition, Observed: d.observed == d.spec.generation,
			Missing: d.missing, Cells: d.cells, Ordered: !w.parallel, Desired: d.spec.replicas, Surge: d.spec.surge,
		}
		if floor, planned := r.workload.value.plan[name]; planned {
			city.Slack = int(max(0, d.available-floor.MinAvailable))
		}
		for _, one := range d.instances {
			one.Updated = one.Updated && one.template == d.spec.template
			city.Instances = append(city.Instances, one.Instance)
		}
		for _, c := range w.cells {
			if c.city != name {
				continue
			}
			city.Unreachable = city.Unreachable || c.lost
			city.SurgeLate = city.SurgeLate || (c.full || w.idle) && city.Observed && len(city.Instances) < d.spec.replicas+d.spec.surge
			if city.Room++; w.parallel {
				city.Room += room(len(c.indices)) - 1
			}
		}
		d.addOverrides(&city)
		s.Cities = append(s.Cities, city)
	}
	if w.broken != "a repair waits for its turn" {
		s.NoSlack, s.Slack = available <= r.workload.value.minimum, int(max(0, available-r.workload.value.minimum))
	}
	w.misread(&s)
	w.misreadSurge(&s)
	w.misreadOverrides(&s)
	return s, cities
}

// rollOut is the rollout in hub/deployments. Before a step it reads the API server.
func (w *world) rollOut(r *replica) {
	s, cities := w.state(r)
	result := rollout.Plan(&s)
	if len(result.Take) > 0 && w.broken != "steps from a cache" {
		if w.workload.value.started() != r.workload.value.started() || w.workload.value.paused != r.workload.value.paused {
			return
		}
		w.record(r.workload.value)
		r.deployments = maps.Clone(w.deployments)
		s, cities = w.state(r)
		result = rollout.Plan(&s)
	}
	w.misstep(&result)
	w.misstepSurge(&s, &result)
	for _, step := range result.Take {
		if w.killed() {
			return
		}
		name := cities[step.City]
		next := w.deployments[name]
		if step.Override != nil {
			next.value.spec.giveTurn(&step)
			next.version++
			w.deployments[name], r.deployments[name] = next, next
			w.turns++
			continue
		}
		next.value.spec = spec{
			generation: next.value.spec.generation + 1, template: s.Target, cautious: step.Cautious, replicas: next.value.spec.replicas,
			surge: step.Surge, turns: next.value.spec.turns,
		}
		if !step.Released {
			next.value.spec.partition = &rollout.Partition{Index: step.Index, Indices: step.Indices, Template: step.Stable}
		}
		next.version++
		if before := w.deployments[name].value.spec; w.workload.value.paused && next.value.spec.lowest(s.Target) < before.lowest(s.Target) {
			w.opened = fmt.Errorf("while the rollout is paused, %s goes from %+v to %+v", name, before, next.value.spec)
		}
		w.deployments[name], r.deployments[name] = next, next
	}
	if result.Phase == rollout.Complete && len(s.Cities) > 0 && r.workload.version == w.workload.version &&
		r.workload.value.complete != s.Target {
		next := w.workload
		next.value.complete, next.version = s.Target, next.version+1
		w.workload, r.workload = next, next
		w.rollouts++
	}
}

// divideWorkload is the budget in hub/deployments.
func (w *world) divideWorkload(r *replica) {
	before := r.workload
	next := before.value
	cities := names(r.deployments)
	d := budget.Division{Minimum: next.minimum, Sequence: next.highest, Step: 1 + w.Int64N(3)}
	for _, city := range cities {
		d.Members = append(d.Members, w.member(r, city))
	}
	divided := w.divide(d)
	next.highest, next.plan = divided.Sequence, map[string]v1alpha.AvailabilityFloor{}
	for i, city := range cities {
		next.plan[city], d.Members[i].Floor = divided.Floors[i], &divided.Floors[i]
	}
	if next.effective = -1; budget.InForce(d.Members) >= next.minimum || w.broken == "a minimum is reported before it is in force" {
		next.effective = next.minimum
	}
	if w.broken == "floors are written before the plan" {
		w.writeFloors(r, next)
	}
	if divided.Changed || next.effective != before.value.effective {
		if w.workload.version != before.version && w.broken != "a plan of a stale cache is stored" || w.killed() {
			return
		}
		now := w.workload.value
		next.minimum, next.target, next.complete, next.paused = now.minimum, now.target, now.complete, now.paused
		next.data, next.hold, next.leaving, next.replicas = now.data, now.hold, now.leaving, now.replicas
		w.workload = stored[workload]{value: next, version: w.workload.version + 1}
		r.workload = w.workload
		w.writes++
		if next.effective == next.minimum {
			w.inForce = next.minimum
		}
	}
	w.writeFloors(r, next)
}

// member is a city as a replica sees it.
func (w *world) member(r *replica, city string) budget.Member {
	known, of := r.deployments[city].value, r.workload.value
	m := budget.Member{Sequence: known.sequence, Available: known.available, InForce: known.inForce, Awaiting: known.awaiting}
	m.Leaving = of.leaving[city] && w.broken != "a city that leaves counts"
	m.Settled = w.broken != "slack stays where an Instance recovers" && !of.leaving[city] && known.spec.partition == nil &&
		known.spec.surge == 0 && known.observed == known.spec.generation && int(known.available) >= of.replicas[city]
	if floor, planned := of.plan[city]; planned {
		m.Floor = &floor
	}
	return m
}

// writeFloors gives the deployments the floors of a plan that is stored, unless the replica is killed before.
func (w *world) writeFloors(r *replica, plan workload) {
	backwards := w.broken == "a floor goes back on its way" || w.broken == "a plan of a stale cache is stored"
	for _, city := range names(r.deployments) {
		floor, planned := plan.plan[city]
		if !planned || w.killed() {
			return
		}
		before := r.deployments[city]
		floor.Pending = nil
		if !backwards && budget.Newest(before.value.floor, &floor) == before.value.floor {
			continue
		}
		if w.deployments[city].version != before.version || before.value.floor != nil && *before.value.floor == floor {
			continue
		}
		next := before
		next.value.floor, next.version = &floor, before.version+1
		w.deployments[city], r.deployments[city] = next, next
	}
}

// propagate is hub/propagation: one write has the spec and the floors of the cells.
func (w *world) propagate(r *replica, city string) {
	before, from := r.copies[city], r.deployments[city].value
	next := before.value.clone()
	next.floor = budget.Newest(next.floor, from.floor)
	if from.spec.generation > next.spec.generation {
		next.spec = from.spec
	}
	if w.broken == "a floor goes back on its way" {
		next.floor = from.floor
	}
	next.suspended = w.suspended
	changed := next.spec != before.value.spec || next.floor != before.value.floor || next.suspended != before.value.suspended
	if next.floor != nil {
		cells := names(next.cells)
		divided := w.divide(budget.Division{
			Minimum: next.floor.MinAvailable, Sequence: next.highest, Step: 1 + w.Int64N(3), Members: w.members(&next, cells),
		})
		next.highest, changed = divided.Sequence, changed || divided.Changed
		for i, name := range cells {
			next.cells[name] = &divided.Floors[i]
		}
	}
	if !changed || w.copies[city].version != before.version {
		return
	}
	w.copies[city] = stored[copied]{value: next, version: before.version + 1}
	r.copies[city] = w.copies[city]
	w.writes++
}

func (w *world) members(of *copied, cells []string) (members []budget.Member) {
	for _, name := range cells {
		known := of.reports[name]
		members = append(members, budget.Member{
			Floor: of.cells[name], Sequence: known.sequence, Available: known.available, InForce: budget.Everything, Awaiting: known.awaiting,
			Silent: w.cells[name].cut, Lost: w.cells[name].lost,
			Settled: of.spec.partition == nil && of.spec.surge == 0 && int(known.available) >= len(w.cells[name].indices) &&
				w.broken != "slack stays where an Instance recovers",
		})
	}
	return members
}

// project is hub/projection.
func (w *world) project(r *replica, city string) {
	known, before := r.copies[city].value, r.deployments[city]
	if w.deployments[city].version != before.version {
		return
	}
	cells, next := names(known.cells), before.value
	next.instances, next.overrides, next.missing, next.cells, next.available, next.awaiting = nil, nil, 0, 0, 0, 0
	observed := true
	for _, name := range cells {
		of, reported := known.reports[name]
		if !reported {
			return
		}
		observed = observed && of.observed == known.spec.generation
		next.cells++
		next.missing += of.missing
		next.overrides = append(next.overrides, of.override)
		for _, one := range of.instances {
			one.Available = one.Available && !w.cells[name].lost
			next.instances = append(next.instances, shown{one, of.template})
		}
	}
	slices.SortFunc(next.instances, func(a, b shown) int { return cmp.Compare(a.Index, b.Index) })
	if observed {
		next.observed = known.spec.generation
	}
	if known.floor != nil {
		members := w.mistaken(w.members(&known, cells))
		next.sequence, next.inForce = known.floor.Sequence, budget.InForce(members)
		for i := range members {
			if !members[i].Lost {
				next.available += max(0, members[i].Available)
			}
			next.awaiting += members[i].Awaiting
		}
	}
	if fmt.Sprint(next) == fmt.Sprint(before.value) {
		return
	}
	w.deployments[city] = stored[deployment]{value: next, version: before.version + 1}
	r.deployments[city] = w.deployments[city]
}
