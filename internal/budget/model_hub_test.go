// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"maps"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// refresh updates one object of a replica's caches.
func (w *world) refresh() {
	r, city := w.anyReplica(), pickName(w, w.deployments)
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

// anyReplica is most often the replica that has the project. The other replica keeps its old caches for long, and may
// take over.
func (w *world) anyReplica() *replica {
	switch w.IntN(12) {
	case 0, 1, 2:
		return w.replicas[1]
	case 3:
		slices.Reverse(w.replicas)
	}
	return w.replicas[0]
}

func (w *world) reconcile() {
	r, city := w.anyReplica(), pickName(w, w.deployments)
	if r == w.replicas[0] && w.IntN(2) == 0 {
		w.refreshAll(r)
	}
	switch w.IntN(3) {
	case 0:
		w.divideWorkload(r)
	case 1:
		w.divideCity(r, city)
	case 2:
		w.project(r, city)
	}
}

// mistaken are members as a hub with a mistake sees them.
func (w *world) mistaken(members []Member) []Member {
	for i := range members {
		m := &members[i]
		switch w.broken {
		case "a raised floor counts before it is confirmed":
			if m.Floor != nil {
				m.Sequence = m.Floor.Sequence
			}
		case "a report from before the floor counts":
			m.Sequence = max(m.Sequence, m.since())
		case "a lost cell counts":
			m.Lost, m.Silent = false, false
		case "the floors inside a city do not matter":
			m.InForce = Everything
		case "a plan of a stale cache is stored":
			if m.foreign() {
				m.Sequence = m.Floor.Sequence
			}
		}
	}
	return members
}

// divide is Divide, or the action of a hub with a mistake.
func (w *world) divide(d Division) Divided {
	d.Members = w.mistaken(d.Members)
	result := Divide(d)
	switch w.broken {
	case "a floor is lowered without a guarantee":
		for i, target := range d.targets() {
			if result.Floors[i].MinAvailable != target {
				result.Changed, result.Sequence = true, d.Sequence+1
				result.Floors[i] = d.Members[i].next(target, d.Sequence+1)
			}
		}
	default:
		w.forget(d.Members, &result)
	}
	return result
}

// forget spoils the floors of a division as a hub with a mistake does.
func (w *world) forget(members []Member, result *Divided) {
	switch w.broken {
	case "what was sent before is forgotten":
		for i := range result.Floors {
			if pending := result.Floors[i].Pending; pending != nil {
				pending.Lowest = result.Floors[i].MinAvailable
			}
		}
	case "the last report of a lost cell counts when it returns":
		for i := range result.Floors {
			if m := &members[i]; m.Lost && m.Floor != nil && result.Floors[i].Pending != nil {
				result.Floors[i].Pending.Confirmed = m.since()
			}
		}
	case "recovery lets others be disrupted":
		for i := range result.Floors {
			if m := &members[i]; m.Floor != nil && result.Floors[i].MinAvailable == Everything && m.current() != Everything {
				result.Floors[i] = m.next(max(m.current(), m.available()), result.Sequence)
			}
		}
	}
}

// divideWorkload is hub/deployments.
func (w *world) divideWorkload(r *replica) {
	before := r.workload
	next := before.value.clone()
	cities := r.cities(&next)
	d := Division{Minimum: next.minimum, Sequence: next.highest, Step: 1 + w.Int64N(3)}
	for _, city := range cities {
		known := r.deployments[city].value
		m := Member{
			Sequence: known.sequence, Available: known.available, InForce: known.inForce, Awaiting: known.awaiting, Leaving: next.leaving[city],
			Settled: !next.leaving[city] && known.available >= w.desired(city) && w.broken != "slack stays where an Instance recovers",
		}
		if floor, planned := next.plan[city]; planned {
			m.Floor = &floor
		}
		d.Members = append(d.Members, m)
	}
	divided := w.divide(d)
	next.highest, next.plan = divided.Sequence, map[string]v1alpha.AvailabilityFloor{}
	for i, city := range cities {
		next.plan[city] = divided.Floors[i]
		d.Members[i].Floor = &divided.Floors[i]
	}
	if InForce(d.Members) >= next.minimum || w.claims(d.Members) {
		next.effective = next.minimum
	} else {
		next.effective = -1
	}
	if w.broken == "floors are written before the plan" {
		w.writeFloors(r, next)
	}
	if divided.Changed || next.effective != before.value.effective {
		if w.workload.version != before.version && w.broken != "a plan of a stale cache is stored" || w.killed() {
			return
		}
		next.minimum, next.leaving = w.workload.value.minimum, w.workload.value.leaving
		w.workload = stored[workload]{value: next, version: w.workload.version + 1}
		r.workload = w.workload
		w.writes++
		if next.effective == next.minimum {
			w.inForce = next.minimum
		}
	}
	w.writeFloors(r, next)
}

// cities are the members of a division: also a city that the spec names and that the cache of the replica lacks.
func (r *replica) cities(of *workload) []string {
	names := maps.Clone(r.deployments)
	for city := range of.plan {
		if _, cached := names[city]; !cached && !of.leaving[city] {
			names[city] = stored[deployment]{}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// killed reports whether a replica is killed at this moment.
func (w *world) killed() bool { return !w.calm && w.IntN(10) == 0 }

// claims reports whether a hub with a mistake reports a minimum that is not in force.
func (w *world) claims(members []Member) bool {
	return w.broken == "a minimum is reported before it is in force" || w.broken == "recovery lets others be disrupted" &&
		!slices.ContainsFunc(members, func(m Member) bool { return !m.confirmed() || m.slack() > 0 })
}

// writeFloors gives the deployments the floors of a plan that is stored, unless the replica is killed before.
func (w *world) writeFloors(r *replica, plan workload) {
	for _, city := range slices.Sorted(maps.Keys(r.deployments)) {
		floor, planned := plan.plan[city]
		if !planned || w.killed() {
			return
		}
		before := r.deployments[city]
		floor.Pending = nil
		if w.broken != "a floor goes back on its way" && w.broken != "a plan of a stale cache is stored" &&
			Newest(before.value.floor, &floor) == before.value.floor {
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

// divideCity is hub/propagation.
func (w *world) divideCity(r *replica, city string) {
	before := r.copies[city]
	next := before.value.clone()
	next.floor = Newest(next.floor, r.deployments[city].value.floor)
	if w.broken == "a floor goes back on its way" {
		next.floor = r.deployments[city].value.floor
	}
	if next.floor == nil {
		return
	}
	names := slices.Sorted(maps.Keys(next.cells))
	members := w.cellMembers(&next, names)
	divided := w.divide(Division{Minimum: next.floor.MinAvailable, Sequence: next.highest, Step: 1 + w.Int64N(3), Members: members})
	if !divided.Changed && before.value.floor == next.floor || w.copies[city].version != before.version {
		return
	}
	next.highest = divided.Sequence
	w.writes++
	for i, name := range names {
		next.cells[name] = &divided.Floors[i]
	}
	w.copies[city] = stored[copied]{value: next, version: before.version + 1}
	r.copies[city] = w.copies[city]
}

func (w *world) cellMembers(of *copied, names []string) []Member {
	var members []Member
	for _, name := range names {
		known := of.reports[name]
		members = append(members, Member{
			Floor: of.cells[name], Sequence: known.sequence, Available: known.available, InForce: Everything, Awaiting: known.awaiting,
			Silent: w.cells[name].cut, Lost: w.cells[name].lost,
			Settled: known.available >= w.cells[name].desired() && w.broken != "slack stays where an Instance recovers",
		})
	}
	return members
}

// desired is how many Instances a city should have.
func (w *world) desired(city string) (count int32) {
	for _, c := range w.cells {
		if c.city == city {
			count += c.desired()
		}
	}
	return count
}

// project is hub/projection.
func (w *world) project(r *replica, city string) {
	known, before := r.copies[city].value, r.deployments[city]
	if w.deployments[city].version != before.version || known.floor == nil {
		return
	}
	names := slices.Sorted(maps.Keys(known.cells))
	members := w.mistaken(w.cellMembers(&known, names))
	next := before
	next.value.sequence, next.value.inForce = known.floor.Sequence, InForce(members)
	next.value.available, next.value.awaiting = 0, 0
	for i := range members {
		next.value.available += members[i].available()
		next.value.awaiting += members[i].Awaiting
	}
	if next.value == before.value {
		return
	}
	next.version++
	w.deployments[city], r.deployments[city] = next, next
}

// remove deletes the deployment of a city that the plan lets go. Its Instances are disrupted voluntarily.
func (w *world) remove() error {
	for _, r := range w.replicas {
		for city := range r.workload.value.leaving {
			floor, planned := r.workload.value.plan[city]
			lets := planned && floor.MinAvailable == 0 || w.broken == "a city is removed without a guarantee"
			if _, exists := w.deployments[city]; !exists || !lets || w.workload.version != r.workload.version || len(w.deployments) == 1 {
				continue
			}
			return w.removeCity(city)
		}
	}
	return nil
}

func (w *world) removeCity(city string) error {
	delete(w.deployments, city)
	delete(w.copies, city)
	for _, name := range slices.Sorted(maps.Keys(w.cells)) {
		if w.cells[name].city == city {
			delete(w.cells, name)
		}
	}
	for _, r := range w.replicas {
		delete(r.deployments, city)
		delete(r.copies, city)
	}
	next := w.workload.value.clone()
	delete(next.leaving, city)
	delete(next.plan, city)
	w.workload = stored[workload]{value: next, version: w.workload.version + 1}
	return w.check("the removal of " + city)
}

// settle delivers every message between the hub and the cells that are not cut off, and lets the hub act on them, until
// nothing changes. Earlier failures are known then, if the minimum is reported to be in force.
func (w *world) settle() {
	w.calm = true
	defer func() { w.calm = false }()
	for range 60 {
		before := fmt.Sprint(w.state())
		for _, name := range slices.Sorted(maps.Keys(w.cells)) {
			w.exchange(w.cells[name])
		}
		r := w.replicas[0]
		w.refreshAll(r)
		w.divideWorkload(r)
		w.refreshAll(r)
		for _, city := range slices.Sorted(maps.Keys(w.deployments)) {
			w.divideCity(r, city)
			w.refreshAll(r)
			w.project(r, city)
			w.refreshAll(r)
		}
		if before == fmt.Sprint(w.state()) {
			break
		}
	}
	if w.workload.value.effective != w.workload.value.minimum {
		return
	}
	learned := false
	for _, c := range w.cells {
		for _, one := range c.instances {
			known := one.fresh && (!c.cut || c.lost)
			one.fresh, learned = one.fresh && !known, learned || known
		}
	}
	if learned {
		// A replica that has an earlier report would hide these failures again.
		w.refreshAll(w.replicas[1])
	}
}

// exchange delivers the newest floor to a cell and its report to the hub. Earlier floors may still arrive, and no
// earlier reports.
func (w *world) exchange(c *cell) {
	if c.cut {
		return
	}
	c.up = nil
	if floor := w.copies[c.city].value.cells[c.name]; floor != nil {
		c.receive(w, *floor)
	}
	w.writeCopy(c.city, func(copied *copied) { copied.reports[c.name] = c.report() })
}

// state is the stored state of the hub, without versions.
func (w *world) state() []any {
	result := []any{w.workload.value}
	for _, city := range slices.Sorted(maps.Keys(w.deployments)) {
		d, c := w.deployments[city].value, w.copies[city].value
		result = append(result, d.sequence, d.available, d.inForce, d.awaiting, c.highest, c.reports)
		if d.floor != nil {
			result = append(result, *d.floor)
		}
	}
	return result
}
