// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cities

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// ErrLocationsNotServed reports the reason why no project has a location.
var ErrLocationsNotServed = errors.New("Milo does not serve LocationBindings of networking.datumapis.com/v1alpha, so " +
	"that no project has a location; " +
	"whoever operates Milo has to install their CustomResourceDefinition")

// Location is a location of a project, as its LocationBinding describes it.
type Location struct {
	// Name of the location, which differs from the name of the LocationBinding.
	Name string
	// City is the code of its city in upper case, or "" when the binding names none.
	City string
	// Topology is where it is: its city, its region and so on.
	Topology map[string]string
	// Available reports whether the project may use it now.
	Available bool
}

// AvailableCities are the cities of the locations that are available: upper case, sorted, each once.
func AvailableCities(locations []Location) []string {
	return citiesOf(locations, func(l *Location) bool { return l.Available })
}

func citiesOf(locations []Location, include func(*Location) bool) []string {
	var cities []string
	for i := range locations {
		if locations[i].City != "" && include(&locations[i]) {
			cities = append(cities, locations[i].City)
		}
	}
	slices.Sort(cities)
	return slices.Compact(cities)
}

// Choice is the result of a placement's choice among the locations of a project.
type Choice struct {
	// Cities that get Instances: upper case, each once, in the order of the placement; the cities of a selector are
	// sorted.
	Cities []string
	// Held are chosen cities that the project cannot use now: running Instances stay, and no Instance is created there.
	Held []string
	// Unresolved reports that the placement names an unknown location, or that no location is known: the placement's
	// Instances elsewhere stay.
	Unresolved bool
	// Problems describe the locations that the placement chooses and cannot have.
	Problems []string
}

// Choose returns a placement's choice among the locations of a project. A location is served by the cells of its city,
// which have no other property to distinguish them: if a placement chooses some locations of a city and not all of
// them, the city is held, since the Instances could run at a location that was not chosen.
func Choose(p *v1alpha.WorkloadPlacement, locations []Location) Choice {
	switch {
	case p.LocationSelector != nil:
		return selectLocations(p, locations)
	case len(p.Locations) > 0:
		return nameLocations(p, locations)
	}
	return nameCities(p, locations)
}

func nameCities(p *v1alpha.WorkloadPlacement, locations []Location) Choice {
	var choice Choice
	available := AvailableCities(locations)
	for _, code := range p.CityCodes {
		city := strings.ToUpper(code)
		if slices.Contains(available, city) {
			choice.Cities = append(choice.Cities, city)
		} else {
			choice.Held = append(choice.Held, city)
		}
	}
	if len(choice.Held) > 0 {
		choice.Problems = append(choice.Problems, fmt.Sprintf("the project may not use %s now; it may use %s",
			strings.Join(choice.Held, ", "), describeCities(available)))
	}
	return choice
}

func describeCities(cities []string) string {
	if len(cities) == 0 {
		return "no city"
	}
	return strings.Join(cities, ", ")
}

func nameLocations(p *v1alpha.WorkloadPlacement, locations []Location) Choice {
	var choice Choice
	chosen := map[string]bool{}
	for i := range p.Locations {
		name := p.Locations[i].Name
		index := slices.IndexFunc(locations, func(l Location) bool { return l.Name == name })
		switch {
		case index < 0:
			choice.Unresolved = true
			choice.Problems = append(choice.Problems, fmt.Sprintf("the project has no location %s; it has %s", name, describeLocations(locations)))
		case locations[index].City == "":
			choice.Unresolved = true
			choice.Problems = append(choice.Problems, fmt.Sprintf("location %s has no city in its topology, so no cell serves it", name))
		default:
			chosen[name] = true
		}
	}
	choice.take(locations, chosen)
	return choice
}

func selectLocations(p *v1alpha.WorkloadPlacement, locations []Location) Choice {
	// If there are no locations at all, Milo has more likely lost them temporarily than the project must run nowhere.
	choice := Choice{Unresolved: len(locations) == 0}
	selector, err := metav1.LabelSelectorAsSelector(withUpperCities(p.LocationSelector))
	if err != nil {
		choice.Problems = []string{fmt.Sprintf("locationSelector: %v", err)}
		return choice
	}
	if selector.Empty() {
		// Admission refuses it. It must never select everything.
		choice.Problems = []string{"locationSelector is empty and selects nothing; name a label"}
		return choice
	}
	chosen := map[string]bool{}
	for i := range locations {
		if location := &locations[i]; location.City != "" && selector.Matches(location.labels()) {
			chosen[location.Name] = true
		}
	}
	if choice.take(locations, chosen); len(chosen) == 0 {
		choice.Problems = append(choice.Problems, fmt.Sprintf("no location of the project matches %q; it has %s",
			metav1.FormatLabelSelector(p.LocationSelector), describeLocations(locations)))
	}
	return choice
}

// labels are the topology, with the city code in upper case: city codes are compared without regard to case.
func (l *Location) labels() labels.Set {
	set := labels.Set{}
	maps.Copy(set, l.Topology)
	if l.City != "" {
		set[v1alpha.LabelTopologyCity] = l.City
	}
	return set
}

// withUpperCities is a selector with city codes in upper case.
func withUpperCities(selector *metav1.LabelSelector) *metav1.LabelSelector {
	result := selector.DeepCopy()
	if city, ok := result.MatchLabels[v1alpha.LabelTopologyCity]; ok {
		result.MatchLabels[v1alpha.LabelTopologyCity] = strings.ToUpper(city)
	}
	for i := range result.MatchExpressions {
		if requirement := &result.MatchExpressions[i]; requirement.Key == v1alpha.LabelTopologyCity {
			for j := range requirement.Values {
				requirement.Values[j] = strings.ToUpper(requirement.Values[j])
			}
		}
	}
	return result
}

// take adds the cities of the chosen locations.
func (c *Choice) take(locations []Location, chosen map[string]bool) {
	for _, city := range citiesOf(locations, func(l *Location) bool { return chosen[l.Name] }) {
		available := false
		var unavailable, others []string
		for i := range locations {
			location := &locations[i]
			switch {
			case location.City != city:
			case !chosen[location.Name]:
				others = append(others, location.Name)
			case location.Available:
				available = true
			default:
				unavailable = append(unavailable, location.Name)
			}
		}
		switch {
		case len(others) > 0:
			c.Problems = append(c.Problems, fmt.Sprintf(
				"city %s has location %s too, and its cells serve all locations of the city; choose all of them, or use cityCodes",
				city, strings.Join(others, ", ")))
		case !available:
			c.Problems = append(c.Problems, fmt.Sprintf("location %s in %s is not available now", strings.Join(unavailable, ", "), city))
		default:
			c.Cities = append(c.Cities, city)
			continue
		}
		c.Held = append(c.Held, city)
	}
}

// maxNamedLocations is how many locations a message names.
const maxNamedLocations = 10

func describeLocations(locations []Location) string {
	if len(locations) == 0 {
		return "no location at all"
	}
	var names []string
	for i := range locations {
		names = append(names, locations[i].Name)
	}
	slices.Sort(names)
	if more := len(names) - maxNamedLocations; more > 0 {
		names = append(names[:maxNamedLocations], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// MostInstances is how many Instances placements may have in the cities that they choose among the locations of a
// project.
func MostInstances(placements []v1alpha.WorkloadPlacement, locations []Location) int64 {
	var sum int64
	for i := range placements {
		_, most := Count(&placements[i], locations, true)
		sum += int64(most) * int64(placements[i].ScaleSettings.MostReplicas())
	}
	return sum
}
