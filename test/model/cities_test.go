// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
)

// mostCities is how many cities a Workload names at most, one after the other.
const mostCities = 5

// resize lets the Workload name a further city, name one no longer or again, or scale one, in the middle of whatever
// happens. The consumer chooses a minimum that fits.
func (w *world) resize() {
	next := w.workload.value
	next.leaving, next.replicas = clone(next.leaving), clone(next.replicas)
	cities := names(next.replicas)
	city := cities[w.IntN(len(cities))]
	switch w.IntN(4) {
	case 0:
		if len(next.replicas) < mostCities {
			next.replicas[fmt.Sprintf("city-%d", len(next.replicas))] = 1 + w.IntN(5)
		}
	case 1:
		if next.leaving[city] {
			delete(next.leaving, city)
		} else if len(next.leaving)+1 < len(next.replicas) {
			next.leaving[city] = true
		}
	default:
		next.replicas[city] = 1 + w.IntN(6)
	}
	w.resizes++
	w.workload = stored[workload]{value: next, version: w.workload.version + 1}
	w.workload.value.minimum = min(next.minimum, w.anyMinimum())
	w.inForce = min(w.inForce, w.workload.value.minimum)
}

// divideIndices gives the cells of a city the indices of its Instances in turn, as spec.assignment does.
func (w *world) divideIndices(c *cell) {
	var inCity []string
	for _, name := range names(w.cells) {
		if w.cells[name].city == c.city {
			inCity = append(inCity, name)
		}
	}
	c.indices = nil
	for index := slices.Index(inCity, c.name); index < c.spec.replicas+c.spec.surge; index += len(inCity) {
		c.indices = append(c.indices, index)
	}
}

// removeSurplus removes the Instances of indices that the cell no longer has: Available ones as its floor allows.
func (w *world) removeSurplus(c *cell) error {
	for _, index := range slices.Backward(slices.Sorted(maps.Keys(c.instances))) {
		if slices.Contains(c.indices, index) {
			continue
		}
		available := c.instances[index].available
		if available && !w.mayDisrupt(c) && w.broken != "a scaled cell goes below its floor" {
			continue
		}
		delete(c.instances, index)
		delete(c.drained, index)
		if !available {
			// That it has failed before may still be unknown to the hub.
			continue
		}
		w.disruptions++
		if err := w.checkMinimum("the removal of a surplus Instance in " + c.name); err != nil {
			return err
		}
	}
	return nil
}

// resizeCities is hub/deployments where the number of Instances or the cities differ from the Workload.
func (w *world) resizeCities(r *replica) error {
	for _, city := range names(r.workload.value.replicas) {
		wanted, leaving := r.workload.value.replicas[city], r.workload.value.leaving[city]
		before, known := r.deployments[city]
		switch {
		case w.killed():
			return nil
		case leaving:
			if err := w.removeCity(r, city); err != nil {
				return err
			}
		case !known:
			w.createCity(r, city)
		case before.value.spec.replicas != wanted && w.deployments[city].version == before.version:
			w.scale(r, city, wanted)
		}
	}
	return nil
}

// createCity creates a deployment with the template that new cities get. Without another city that is no rollout.
func (w *world) createCity(r *replica, city string) {
	if _, exists := w.deployments[city]; exists || w.workload.version != r.workload.version {
		return
	}
	w.record(r.workload.value)
	s, _ := w.state(r)
	template := rollout.Newcomer(&s)
	if w.broken == "a new city gets the target" {
		template = s.Target
	}
	w.addCity(city, spec{generation: 1, template: template, replicas: r.workload.value.replicas[city]})
	if len(s.Cities) == 0 {
		w.first = template
	}
}

// scale changes the number of Instances. New ones get the stable template: the partition names the Instances that do not.
func (w *world) scale(r *replica, city string, wanted int) {
	next := r.deployments[city]
	next.value.spec.replicas = wanted
	next.value.spec.generation++
	next.version++
	w.deployments[city], r.deployments[city] = next, next
}

// removeCity deletes the deployment of a city that the Workload no longer names, when the stored plan does not count on it.
// Its Instances are disrupted voluntarily. The last one stays until another city has a deployment: a world has cells.
func (w *world) removeCity(r *replica, city string) error {
	if _, exists := w.deployments[city]; !exists || len(w.deployments) == 1 || w.workload.version != r.workload.version {
		return nil
	}
	floor, planned := r.workload.value.plan[city]
	if (!planned || floor.MinAvailable > 0) && w.broken != "a city is removed without a guarantee" {
		return nil
	}
	delete(w.deployments, city)
	delete(w.copies, city)
	for _, name := range names(w.cells) {
		if w.cells[name].city == city {
			delete(w.cells, name)
		}
	}
	next := w.workload.value
	next.plan = clone(next.plan)
	delete(next.plan, city)
	w.workload = stored[workload]{value: next, version: w.workload.version + 1}
	for _, of := range w.replicas {
		delete(of.deployments, city)
		delete(of.copies, city)
	}
	w.removed++
	return w.checkMinimum("the removal of " + city)
}
