// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import "testing"

// TestInstancesThatStart: after a resume, the Instances of a city that waits for its turn are unavailable, as broken
// ones are. Once they have started, its cells would take down as many as their own limit allows, which is more than the
// Workload's. Broken ones get the target all at once nevertheless.
func TestInstancesThatStart(t *testing.T) {
	t.Parallel()
	instances := func(available int) (all []Instance) {
		for index := range 10 {
			all = append(all, Instance{Index: index, Updated: true, Available: index < available})
		}
		return all
	}
	first := City{Name: "a", Code: "a", Template: "next", Observed: true, Cells: 1, Room: 5, Desired: 10, Instances: instances(10)}
	for name, test := range map[string]struct {
		available, room, batch int
		want                   Step
	}{
		"all start":                              {0, 5, 0, Step{City: 1, Index: 0, Indices: "0-9", Stable: "before", Cautious: true}},
		"some start":                             {4, 5, 0, Step{City: 1, Index: 4, Indices: "4-9", Stable: "before", Cautious: true}},
		"all start, in cells with a lower limit": {0, 2, 0, Step{City: 1, Released: true}},
		"all start, in batches":                  {0, 5, 1, Step{City: 1, Index: 9, Indices: "9", Stable: "before", Cautious: true}},
		"none starts":                            {10, 5, 0, Step{City: 1, Index: 8, Indices: "8-9", Stable: "before"}},
	} {
		second := City{
			Name: "b", Code: "b", Template: "before", Observed: true, Cells: 1, Room: test.room, Desired: 10, Instances: instances(test.available),
		}
		state := State{Target: "next", MaxUnavailable: 2, CitiesAtOnce: 1, Batch: test.batch, MaxSurge: 0, Cities: []City{first, second}}
		if result := Plan(&state); len(result.Take) != 1 || result.Take[0] != test.want {
			t.Errorf("%s: the steps are %+v: %s", name, result.Take, result.Message)
		}
	}
}

// TestACityWithoutInstances gets the target at once, holds up no other city, and is complete when its cells have
// reported.
func TestACityWithoutInstances(t *testing.T) {
	t.Parallel()
	stopped := City{Name: "a", Code: "a", Template: "before", Observed: true, Cells: 1}
	running := City{
		Name: "b", Code: "b", Template: "next", Observed: true, Cells: 1, Room: 1, Desired: 1,
		Instances: []Instance{{Updated: true, Available: true}},
	}
	state := State{Target: "next", MaxUnavailable: 1, CitiesAtOnce: 1, Cities: []City{stopped, running}}
	if result := Plan(&state); len(result.Take) != 1 || result.Take[0] != (Step{Released: true}) {
		t.Errorf("the steps are %+v: %s", result.Take, result.Message)
	}
	state.Cities[0].Partition = &Partition{Index: 1, Template: "before"}
	state.Cities[0].Template = "next"
	if result := Plan(&state); len(result.Take) != 1 || result.Take[0] != (Step{Released: true}) {
		t.Errorf("with a partition the steps are %+v: %s", result.Take, result.Message)
	}
	state.Cities[0].Partition = nil
	if result := Plan(&state); result.Phase != Complete {
		t.Errorf("it ends in phase %s: %s", result.Phase, result.Message)
	}
	state.Cities[0].Observed = false
	if result := Plan(&state); result.Phase != Progressing || len(result.Take) > 0 {
		t.Errorf("before its report, it is in phase %s, with steps %+v", result.Phase, result.Take)
	}
}
