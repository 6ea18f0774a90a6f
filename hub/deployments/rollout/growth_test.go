// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestNoMoreThanThePause: a step names the Instances that get the target, so that no other gets it later: one that an
// autoscaler adds, in any cell, one that waits for quota, or one above an unavailable Instance that is the first.
func TestNoMoreThanThePause(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// existing are the Instances of the city; held wait for quota, broken are not Available, updated have the target.
		existing, held, broken, updated string
		missing, pauseAfter, batch      int
		want                            string
	}{
		"the first one":                         {existing: "0-1", pauseAfter: 1, want: "1"},
		"one below others that wait for quota":  {existing: "0-3", held: "2-3", pauseAfter: 1, want: "1"},
		"one that is not Available":             {existing: "0-3", broken: "1", pauseAfter: 1, want: "1"},
		"while others are created":              {existing: "0-1", missing: 10, pauseAfter: 1, want: "11"},
		"two cells with gaps":                   {existing: "0-1,6-7", updated: "7", pauseAfter: 3, want: "1,6-7"},
		"a batch":                               {existing: "0-1,6-7", updated: "7", batch: 1, want: "6-7"},
		"all of the city, before the pause":     {existing: "0-2", updated: "2", pauseAfter: 3, want: "0-2"},
		"all of the city, and no pause":         {existing: "0-2", updated: "2", want: "released"},
		"all of the city, far from the pause":   {existing: "0-2", updated: "2", pauseAfter: 9, want: "released"},
		"the pause":                             {existing: "0-2", updated: "0-2", pauseAfter: 3, want: ""},
		"the pause, after growth":               {existing: "0-5", updated: "0-2", pauseAfter: 3, want: ""},
		"the canary is removed by a lower load": {existing: "0-2", pauseAfter: 1, want: "2"},
	} {
		city := City{Name: "a", Code: "a", Template: "before", Observed: true, Cells: 1, Room: 9, Autoscaled: true, Missing: test.missing}
		for _, index := range naming.Parse(test.existing) {
			city.Instances = append(city.Instances, Instance{
				Index: index, Updated: test.updated == "" || naming.Contains(test.updated, index),
				Available: !naming.Contains(test.held+","+test.broken, index), Held: naming.Contains(test.held, index),
			})
		}
		city.Desired = len(city.Instances) + test.missing
		if test.updated != "" {
			city.Template, city.Partition = "next", &Partition{Index: 0, Indices: test.updated, Template: "before"}
		}
		state := State{Target: "next", MaxUnavailable: 9, Batch: test.batch, PauseAfter: test.pauseAfter, CitiesAtOnce: 1, Cities: []City{city}}
		got, result := "", Plan(&state)
		for _, step := range result.Take {
			if got = step.Indices; step.Released {
				got = "released"
			}
		}
		if got != test.want {
			t.Errorf("%s: %q get the target, not %q: %+v", name, got, test.want, result)
		}
	}
}
