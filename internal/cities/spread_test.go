// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cities_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// spreading makes the cities of a placement candidates, of which so many run.
func spreading(p v1alpha.WorkloadPlacement, count int32) v1alpha.WorkloadPlacement {
	p.Spread = &v1alpha.PlacementSpread{Cities: count}
	return p
}

// recordOf parses a record such as "ORD:Running DFW:Away".
func recordOf(text string) []v1alpha.PlacementCity {
	var record []v1alpha.PlacementCity
	for word := range strings.FieldsSeq(text) {
		city, phase, _ := strings.Cut(word, ":")
		record = append(record, v1alpha.PlacementCity{City: city, Phase: v1alpha.PlacementCityPhase(phase)})
	}
	return record
}

// TestOf: a placement with spread has deployments in the recorded cities alone, and in none before its choice is recorded.
func TestOf(t *testing.T) {
	const all = "dfw-1:DFW:us ord-1:ORD:us sea-1:SEA:us"
	codes := v1alpha.WorkloadPlacement{CityCodes: []string{"sea", "ORD", "dfw"}}
	for name, test := range map[string]struct {
		placement         v1alpha.WorkloadPlacement
		record, locations string
		want, wantHeld    string
		wantProblem       string
	}{
		"without spread a record has no meaning": {codes, "ORD:Running", all, "SEA ORD DFW", "", ""},
		"not recorded yet":                       {spreading(codes, 1), "", all, "", "", "0 of 1 cities are chosen"},
		"the recorded city":                      {spreading(codes, 1), "ORD:Running", all, "ORD", "", ""},
		"one that was replaced stays":            {spreading(codes, 1), "ORD:Running DFW:Lost", all, "ORD DFW", "", ""},
		"one that is away has none":              {spreading(codes, 1), "ORD:Running DFW:Away", all, "ORD", "", ""},
		"one that is no candidate any more":      {spreading(codes, 1), "LHR:Running", all, "", "", ""},
		"a candidate that is not needed is withdrawn": {
			spreading(codes, 1), "ORD:Running", "ord-1:ORD:us !sea-1:SEA:us", "ORD", "", "",
		},
		"the recorded city is withdrawn": {
			spreading(codes, 1), "ORD:Running", "!ord-1:ORD:us sea-1:SEA:us", "", "ORD", "the project may not use ORD, DFW now",
		},
		"a selector": {spreading(selecting("topology.datum.net/region", "us"), 1), "SEA:Running", all, "SEA", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := cities.Of(&test.placement, recordOf(test.record), locationsOf(test.locations))
			problems := strings.Join(got.Problems, "; ")
			if !slices.Equal(got.Cities, strings.Fields(test.want)) || !slices.Equal(got.Held, strings.Fields(test.wantHeld)) ||
				(problems == "") != (test.wantProblem == "") || !strings.Contains(problems, test.wantProblem) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestCandidates: the order of preference is the one of the placement, also of candidates that are not available.
func TestCandidates(t *testing.T) {
	locations := locationsOf("dfw-1:DFW:us !ord-1:ORD:us sea-1:SEA:us sea-2:SEA:us")
	for want, placement := range map[string]v1alpha.WorkloadPlacement{
		"SEA ORD DFW": {CityCodes: []string{"sea", "ORD", "dfw"}},
		"SEA DFW":     named("sea-2", "dfw-1", "sea-1"),
		"DFW ORD SEA": selecting("topology.datum.net/region", "us"),
	} {
		choice := cities.Choose(&placement, locations)
		if got := strings.Join(choice.Candidates(&placement, locations), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestCount: the bound on Instances counts the cities that run, and while one is replaced also the other one.
func TestCount(t *testing.T) {
	locations := locationsOf("dfw-1:DFW:us !ord-1:ORD:us sea-1:SEA:us")
	codes := v1alpha.WorkloadPlacement{CityCodes: []string{"DFW", "ORD", "SEA"}}
	replaced := spreading(codes, 2)
	replaced.Spread.Failover = &v1alpha.PlacementFailover{}
	selected := selecting("topology.datum.net/region", "us")
	for name, test := range map[string]struct {
		placement     v1alpha.WorkloadPlacement
		known         bool
		running, most int
	}{
		"all":                   {codes, true, 3, 3},
		"two of three":          {spreading(codes, 2), true, 2, 2},
		"with failover":         {replaced, true, 2, 3},
		"a selector":            {selected, true, 3, 3},
		"two of a selector":     {spreading(selected, 2), true, 2, 2},
		"a selector, not known": {selected, false, 0, 0},
	} {
		if running, most := cities.Count(&test.placement, locations, test.known); running != test.running || most != test.most {
			t.Errorf("%s: %d, %d", name, running, most)
		}
	}
}
