// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cities

import (
	"fmt"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Of returns the cities in which a placement has deployments. Of a placement with spread they are the recorded ones among
// its candidates: without a record it has none.
func Of(p *v1alpha.WorkloadPlacement, recorded []v1alpha.PlacementCity, locations []Location) Choice {
	choice := Choose(p, locations)
	if p.Spread == nil {
		return choice
	}
	isOther := func(city string) bool {
		at := slices.IndexFunc(recorded, func(c v1alpha.PlacementCity) bool { return strings.EqualFold(c.City, city) })
		return at < 0 || !recorded[at].HasDeployment()
	}
	choice.Cities, choice.Held = slices.DeleteFunc(choice.Cities, isOther), slices.DeleteFunc(choice.Held, isOther)
	chosen := 0
	for i := range recorded {
		if recorded[i].Phase == v1alpha.CityRunning {
			chosen++
		}
	}
	switch {
	case chosen < int(p.Spread.Cities):
		choice.Problems = append(choice.Problems, fmt.Sprintf(
			"%d of %d cities are chosen; the placement has no other candidate that the project may use", chosen, p.Spread.Cities))
	case len(choice.Held) == 0:
		// A candidate that is not needed has no problem.
		choice.Problems = nil
	}
	return choice
}

// Candidates returns the cities of a choice in their order of preference: the order of the placement, and for a selector the order of
// their codes.
func (c *Choice) Candidates(p *v1alpha.WorkloadPlacement, locations []Location) []string {
	all := slices.Concat(c.Cities, c.Held)
	slices.Sort(all)
	if p.LocationSelector != nil {
		return all
	}
	var result []string
	add := func(city string) {
		if slices.Contains(all, city) && !slices.Contains(result, city) {
			result = append(result, city)
		}
	}
	for _, code := range p.CityCodes {
		add(strings.ToUpper(code))
	}
	for i := range p.Locations {
		for j := range locations {
			if locations[j].Name == p.Locations[i].Name {
				add(locations[j].City)
			}
		}
	}
	return result
}

// Count returns in how many cities a placement runs its Instances, and how many may have some while cities are replaced. Cities
// and locations that are named count also while they are not available. known: the locations of the project are known; else a
// selector counts as none.
func Count(p *v1alpha.WorkloadPlacement, locations []Location, known bool) (running, most int) {
	running = len(p.CityCodes) + len(p.Locations)
	if p.LocationSelector != nil && known {
		choice := Choose(p, locations)
		running += len(choice.Cities) + len(choice.Held)
	}
	if most = running; p.Spread == nil {
		return running, most
	}
	running = min(running, int(p.Spread.Cities))
	if p.Spread.Failover == nil {
		return running, running
	}
	return running, min(most, 2*running)
}
