// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/cli/view"
)

// crowd has 600 Workloads: each hundredth is broken, each fiftieth other one is rolling.
func crowd() []view.Overview {
	var result []view.Overview
	for i := range 600 {
		o := view.Overview{Name: fmt.Sprintf("web-%03d", i), Cities: []string{[]string{"DFW", "ORD"}[i%2]}, Level: view.LevelWell}
		switch {
		case i%100 == 99:
			o.Level = view.LevelBroken
		case i%50 == 0:
			o.Level = view.LevelRolling
		}
		o.Deployments = []view.CityOverview{{City: o.Cities[0], Standing: view.Standing(o.Level)}}
		result = append(result, o)
	}
	return result
}

func TestShow(t *testing.T) {
	for name, c := range map[string]struct {
		query   Query
		first   []string
		shown   int
		omitted int
	}{
		"urgent ones first": {Query{}, []string{"web-099", "web-199", "web-299", "web-399", "web-499", "web-599", "web-000"}, 300, 300},
		"a name":            {Query{Name: "B-59"}, []string{"web-599", "web-590"}, 10, 0},
		"a city":            {Query{City: "DFW"}, []string{"web-000", "web-050"}, 300, 0},
		"a level":           {Query{Level: "rolling"}, []string{"web-000"}, 12, 0},
		"all three":         {Query{Name: "9", City: "ORD", Level: "broken"}, []string{"web-099"}, 6, 0},
		"no hit":            {Query{City: "LAX"}, nil, 0, 0},
		"an unknown level":  {Query{Level: "odd"}, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &State{}
			s.Show(crowd(), c.query)
			if want := (Sums{Broken: 6, Rolling: 12, Well: 582}); s.Sums != want {
				t.Errorf("sums %+v, want %+v", s.Sums, want)
			}
			if len(s.Workloads) != c.shown || s.Omitted != c.omitted {
				t.Errorf("%d are shown and %d omitted, want %d and %d", len(s.Workloads), s.Omitted, c.shown, c.omitted)
			}
			for i, name := range c.first {
				if s.Workloads[i].Name != name {
					t.Errorf("row %d is %s, want %s", i, s.Workloads[i].Name, name)
				}
			}
			if want := []view.CityStanding{
				{Name: "DFW", Standing: view.StandingRolling, Rolling: 12}, {Name: "ORD", Standing: view.StandingBroken, Broken: 6},
			}; !slices.Equal(s.Cities, want) {
				t.Errorf("cities %v, want %v", s.Cities, want)
			}
		})
	}
}
