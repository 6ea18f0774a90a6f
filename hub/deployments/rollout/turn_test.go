// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import "testing"

// TestBrokenInstancesOfALaterCity: they use up maxUnavailable, so that the city in progress waits for them, and only the new template repairs them.
func TestBrokenInstancesOfALaterCity(t *testing.T) {
	t.Parallel()
	first := City{
		Name: "a", Code: "a", Template: "corrected", Partition: &Partition{Index: 1, Template: "good"}, Observed: true, Cells: 1, Room: 1, Desired: 2,
		Instances: []Instance{{Index: 0, Available: true}, {Index: 1, Updated: true, Available: true}},
	}
	second := City{
		Name: "b", Code: "b", Template: "broken", Partition: &Partition{Template: "good"}, Observed: true, Cells: 1, Room: 1, Desired: 2,
		Instances: []Instance{{Index: 0, Updated: true}, {Index: 1, Updated: true}},
	}
	result := Next(&State{Target: "corrected", MaxUnavailable: 2, CitiesAtOnce: 1, Cities: []City{first, second}})
	if len(result.Steps) != 1 || result.Steps[0].City != 1 {
		t.Errorf("the steps are %+v: %s", result.Steps, result.Message)
	}
	// While the limit lets the city in progress continue, the next one waits for its turn.
	result = Next(&State{Target: "corrected", MaxUnavailable: 4, CitiesAtOnce: 1, Cities: []City{first, second}})
	for _, step := range result.Steps {
		if step.City == 1 {
			t.Errorf("the next city starts: %+v", result.Steps)
		}
	}
}
