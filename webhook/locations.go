// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// places are the locations of a project as far as a request needs them.
type places struct {
	locations []cities.Location
	// known reports whether the locations were looked up.
	known bool
	// age is the age of the locations while Milo does not answer.
	age time.Duration
}

// validateLocations returns a problem for every city and location that is new in the Workload and that the project may
// not use. Cities and locations that the stored Workload has are not validated: a withdrawn location must not block
// other changes. Only a fresh answer refuses a request: the project may have got the location a moment ago.
func (v *Workloads) validateLocations(
	ctx context.Context, project Project, workload, before *v1alpha.Workload,
) (places, field.ErrorList, error) {
	changed := changedPlacements(workload, before)
	if len(changed) == 0 {
		return places{}, nil, nil
	}
	locations, age, err := v.Projects.Locations(ctx, project)
	if err != nil {
		return places{}, nil, err
	}
	if problems := validateAll(changed, workload.Spec.Placements, locations); len(problems) == 0 {
		return places{locations: locations, known: true, age: age}, nil, nil
	}
	if locations, err = v.Projects.FreshLocations(ctx, project); err != nil {
		return places{}, nil, err
	}
	return places{locations: locations, known: true}, validateAll(changed, workload.Spec.Placements, locations), nil
}

// changedPlacement is a placement that names or selects locations that it did not before.
type changedPlacement struct {
	path *field.Path
	now  *v1alpha.WorkloadPlacement
	// before is the previous placement of this name, or an empty one.
	before *v1alpha.WorkloadPlacement
}

func changedPlacements(workload, before *v1alpha.Workload) []changedPlacement {
	var changed []changedPlacement
	for i := range workload.Spec.Placements {
		placement := changedPlacement{
			path: field.NewPath("spec", "placements").Index(i), now: &workload.Spec.Placements[i], before: &v1alpha.WorkloadPlacement{},
		}
		if before != nil {
			index := slices.IndexFunc(before.Spec.Placements, func(p v1alpha.WorkloadPlacement) bool { return p.Name == placement.now.Name })
			if index >= 0 {
				placement.before = &before.Spec.Placements[index]
			}
		}
		if len(placement.addedCities())+len(placement.addedLocations()) > 0 || placement.selectsAnew() || placement.spreadsAnew() {
			changed = append(changed, placement)
		}
	}
	return changed
}

// addedCities are the indices of the city codes that the placement did not have before.
func (p *changedPlacement) addedCities() []int {
	return added(p.now.CityCodes, p.before.CityCodes, strings.EqualFold)
}

// addedLocations are the indices of the locations that it did not name before.
func (p *changedPlacement) addedLocations() []int {
	return added(p.now.Locations, p.before.Locations, func(a, b v1alpha.PlacementLocation) bool { return a == b })
}

func added[T any](now, before []T, same func(a, b T) bool) []int {
	var indices []int
	for i := range now {
		if !slices.ContainsFunc(before, func(other T) bool { return same(now[i], other) }) {
			indices = append(indices, i)
		}
	}
	return indices
}

// selectsAnew reports whether the placement has a selector that it did not have before.
func (p *changedPlacement) selectsAnew() bool {
	return p.now.LocationSelector != nil && !reflect.DeepEqual(p.now.LocationSelector, p.before.LocationSelector)
}

// spreadsAnew reports whether the placement has another spread than before.
func (p *changedPlacement) spreadsAnew() bool {
	return p.now.Spread != nil && !reflect.DeepEqual(p.now.Spread, p.before.Spread)
}

func validateAll(changed []changedPlacement, all []v1alpha.WorkloadPlacement, locations []cities.Location) field.ErrorList {
	var problems field.ErrorList
	available := cities.AvailableCities(locations)
	for i := range changed {
		placement := &changed[i]
		for _, j := range placement.addedCities() {
			if code := placement.now.CityCodes[j]; !slices.Contains(available, strings.ToUpper(code)) {
				problems = append(problems, field.NotSupported(placement.path.Child("cityCodes").Index(j), code, available))
			}
		}
		problems = append(problems, placement.validateNames(locations)...)
		problems = append(problems, placement.validateSpread(all, locations)...)
	}
	return problems
}

// validateSpread returns a problem if the placement has fewer candidates than it is to run in, or has a city of another placement
// although one of both has candidates. Placements that name the same cities, or the same locations, are refused without locations.
func (p *changedPlacement) validateSpread(all []v1alpha.WorkloadPlacement, locations []cities.Location) field.ErrorList {
	var problems field.ErrorList
	candidates := candidatesOf(p.now, locations)
	if p.spreadsAnew() && len(p.now.Locations) > 0 && len(candidates) < int(p.now.Spread.Cities) {
		problems = append(problems, field.Invalid(p.path.Child("spread", "cities"), p.now.Spread.Cities, fmt.Sprintf(
			"the locations are in %d cities; name more, or reduce the number", len(candidates))))
	}
	for i := range all {
		other := &all[i]
		if other.Name == p.now.Name || other.Spread == nil && p.now.Spread == nil ||
			len(other.CityCodes) > 0 && len(p.now.CityCodes) > 0 {
			continue
		}
		for _, city := range candidatesOf(other, locations) {
			if slices.Contains(candidates, city) {
				problems = append(problems, field.Invalid(p.path.Child("spread"), field.OmitValueType{}, fmt.Sprintf(
					"placement %q has city %s too; a city of a placement with spread may be in no other placement", other.Name, city)))
			}
		}
	}
	return problems
}

func candidatesOf(p *v1alpha.WorkloadPlacement, locations []cities.Location) []string {
	choice := cities.Choose(p, locations)
	return choice.Candidates(p, locations)
}

// validateNames returns a problem for each added location that the project may not use, or that cells cannot
// distinguish from another one that the placement does not name.
func (p *changedPlacement) validateNames(locations []cities.Location) field.ErrorList {
	indices := p.addedLocations()
	if len(indices) == 0 {
		return nil
	}
	cityOf := map[string]string{}
	var names []string
	for i := range locations {
		if location := &locations[i]; location.Available && location.City != "" {
			names = append(names, location.Name)
			cityOf[location.Name] = location.City
		}
	}
	// Only locations that the project may use: a held location is held for another location of its city.
	usable := v1alpha.WorkloadPlacement{Locations: slices.DeleteFunc(slices.Clone(p.now.Locations), func(l v1alpha.PlacementLocation) bool {
		return cityOf[l.Name] == ""
	})}
	held := cities.Choose(&usable, locations).Held
	var problems field.ErrorList
	for _, i := range indices {
		path, name := p.path.Child("locations").Index(i).Child("name"), p.now.Locations[i].Name
		switch city := cityOf[name]; {
		case city == "":
			problems = append(problems, field.NotSupported(path, name, names))
		case slices.Contains(held, city):
			problems = append(problems, field.Invalid(path, name, fmt.Sprintf(
				"city %s has other locations too, and its cells serve all locations of the city; name all of them, or use cityCodes", city)))
		}
	}
	return problems
}

// warnings name accepted cities and locations that get no Instances now.
func (p *places) warnings(project Project, workload, before *v1alpha.Workload) []string {
	var warnings []string
	if p.age > 0 {
		warnings = append(warnings, fmt.Sprintf(
			"the locations of project %q cannot be looked up now; locations of %s ago were used: a city that was withdrawn since "+
				"then gets no Instances",
			project.Name, p.age.Round(time.Second)))
	}
	for _, placement := range changedPlacements(workload, before) {
		if !placement.selectsAnew() && (!placement.spreadsAnew() || placement.now.LocationSelector == nil) {
			continue
		}
		for _, problem := range cities.Choose(placement.now, p.locations).Problems {
			warnings = append(warnings, fmt.Sprintf("%s: %s", placement.path.Child("locationSelector"), problem))
		}
		if found := len(candidatesOf(placement.now, p.locations)); placement.now.Spread != nil && found < int(placement.now.Spread.Cities) {
			warnings = append(warnings, fmt.Sprintf("%s: the selector has %d cities now, so that the Instances run in %d",
				placement.path.Child("spread", "cities"), found, found))
		}
	}
	return warnings
}

// count is in how many cities a placement runs Instances, as far as that is known.
func (p *places) count(placement *v1alpha.WorkloadPlacement) int {
	running, _ := cities.Count(placement, p.locations, p.known)
	if !p.known || len(placement.CityCodes) > 0 {
		return running
	}
	return min(running, len(cities.Choose(placement, p.locations).Cities))
}
