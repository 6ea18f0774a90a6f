// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cities_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// locationsOf are locations such as "dfw-1:DFW:us" and, when it is not available, "!dfw-1:DFW:us".
func locationsOf(descriptions string) []cities.Location {
	var result []cities.Location
	for description := range strings.FieldsSeq(descriptions) {
		name, available := strings.CutPrefix(description, "!")
		parts := strings.Split(name, ":")
		result = append(result, cities.Location{
			Name: parts[0], City: strings.ToUpper(parts[1]), Available: !available,
			Topology: map[string]string{v1alpha.LabelTopologyCity: parts[1], "topology.datum.net/region": parts[2]},
		})
	}
	return result
}

func named(names ...string) v1alpha.WorkloadPlacement {
	var placement v1alpha.WorkloadPlacement
	for _, name := range names {
		placement.Locations = append(placement.Locations, v1alpha.PlacementLocation{Name: name})
	}
	return placement
}

func selecting(key string, values ...string) v1alpha.WorkloadPlacement {
	if len(values) == 1 {
		return v1alpha.WorkloadPlacement{LocationSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: values[0]}}}
	}
	return v1alpha.WorkloadPlacement{LocationSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values},
	}}}
}

func TestChoose(t *testing.T) {
	const region = "topology.datum.net/region"
	const both = "dfw-1:DFW:us ord-1:ord:us lhr-1:LHR:eu"
	tests := map[string]struct {
		placement      v1alpha.WorkloadPlacement
		locations      string
		want, wantHeld string
		wantUnresolved bool
		wantProblem    string
	}{
		"cities, in any case": {v1alpha.WorkloadPlacement{CityCodes: []string{"ord", "DFW"}}, both, "ORD DFW", "", false, ""},
		"a city without a location": {
			v1alpha.WorkloadPlacement{CityCodes: []string{"DFW", "xyz"}},
			both, "DFW", "XYZ", false,
			"the project may not use XYZ now; it may use DFW, LHR, ORD",
		},
		"a city that is not available": {
			v1alpha.WorkloadPlacement{CityCodes: []string{"DFW"}}, "!dfw-1:DFW:us", "", "DFW", false, "it may use no city",
		},
		"a location": {named("lhr-1"), both, "LHR", "", false, ""},
		"a location that the project lacks": {
			named("lhr-1", "syd-1"), both, "LHR", "", true, "the project has no location syd-1; it has dfw-1, lhr-1, ord-1",
		},
		"a location that is not available": {
			named("dfw-1"), "!dfw-1:DFW:us", "", "DFW", false, "location dfw-1 in DFW is not available now",
		},
		"a location without a city": {named("moon-1"), "moon-1::luna", "", "", true, "location moon-1 has no city"},
		"one of two locations of a city": {
			named("dfw-1"), "dfw-1:DFW:us dfw-2:DFW:us", "", "DFW", false, "city DFW has location dfw-2 too",
		},
		"both locations of a city":       {named("dfw-1", "dfw-2"), "dfw-1:DFW:us dfw-2:DFW:us", "DFW", "", false, ""},
		"both, and one is not available": {named("dfw-1", "dfw-2"), "dfw-1:DFW:us !dfw-2:DFW:us", "DFW", "", false, ""},
		"a region":                       {selecting(region, "us"), both, "DFW ORD", "", false, ""},
		"a region with one that is unavailable": {
			selecting(region, "us"), "dfw-1:DFW:us !ord-1:ORD:us", "DFW", "ORD", false, "location ord-1 in ORD is not available now",
		},
		"cities by a selector, in any case":   {selecting(v1alpha.LabelTopologyCity, "dfw", "Ord"), both, "DFW ORD", "", false, ""},
		"a city by a selector, in any case":   {selecting(v1alpha.LabelTopologyCity, "Ord"), both, "ORD", "", false, ""},
		"a region that nothing is in":         {selecting(region, "ap"), both, "", "", false, "no location of the project matches"},
		"a region while no location is known": {selecting(region, "us"), "", "", "", true, "it has no location at all"},
		"a part of a city": {
			selecting(region, "us"), "dfw-1:DFW:us dfw-2:DFW:other", "", "DFW", false, "city DFW has location dfw-2 too",
		},
		"an empty selector selects nothing": {
			v1alpha.WorkloadPlacement{LocationSelector: &metav1.LabelSelector{}}, both, "", "", false, "locationSelector is empty",
		},
		"a selector with an unknown operator": {
			v1alpha.WorkloadPlacement{
				LocationSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}},
			}, both, "", "", false, "locationSelector: ",
		},
		"what is not a city is no city by label": {
			selecting(region, "luna"), "moon-1::luna", "", "", false, "no location of the project matches",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := cities.Choose(&test.placement, locationsOf(test.locations))
			if !slices.Equal(got.Cities, strings.Fields(test.want)) || !slices.Equal(got.Held, strings.Fields(test.wantHeld)) ||
				got.Unresolved != test.wantUnresolved {
				t.Errorf("got %+v", got)
			}
			problems := strings.Join(got.Problems, "; ")
			if (problems == "") != (test.wantProblem == "") || !strings.Contains(problems, test.wantProblem) {
				t.Errorf("problems are %q", problems)
			}
		})
	}
}
