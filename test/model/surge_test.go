// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
)

// surgeMistakes are mistakes about additional Instances.
var surgeMistakes = []string{
	"an additional Instance is not known", "additional Instances beyond the limit", "no capacity for an additional Instance",
	"an additional Instance is removed too early", "an additional Instance is never removed",
}

// addSurge lets the rollouts of a world in four start additional Instances. Other worlds are the same as before.
func (w *world) addSurge(seed uint64) {
	if seed%4 == 1 || slices.Contains(surgeMistakes, w.broken) {
		w.maxSurge = []int{rollout.SurgeSingle, 1, 2}[rand.New(rand.NewPCG(seed, 3)).IntN(3)]
	}
}

// anyFull reports whether a new cell has no capacity for additional Instances.
func (w *world) anyFull() bool { return w.maxSurge != 0 && w.IntN(4) == 0 }

// lacking is how many of the wanted Instances are unavailable. Additional ones make up for others of their city.
func (w *world) lacking() (count int) {
	of := map[string]int{}
	for _, c := range w.cells {
		of[c.city] += c.unavailable()
		for _, index := range c.indices {
			if index >= c.spec.replicas {
				of[c.city]--
			}
		}
	}
	for _, unavailable := range of {
		count += max(0, unavailable)
	}
	return count
}

// checkSurge compares the additional Instances with the limit.
func (w *world) checkSurge() error {
	surge := 0
	for _, d := range w.deployments {
		surge += d.value.spec.surge
	}
	if w.maxSurge >= 0 && surge > w.maxSurge && !w.sizes {
		return fmt.Errorf("%d additional Instances", surge)
	}
	return w.checkServing()
}

// checkServing: while nothing fails, a city with a single Instance always has one that is Available. Overrides get no
// additional Instances.
func (w *world) checkServing() error {
	if !w.quiet || w.policies != nil || w.maxSurge == 0 || w.maxSurge > 0 && len(w.deployments) > 1 {
		return nil
	}
	for _, c := range w.cells {
		if w.deployments[c.city].value.spec.replicas == 1 && c.available() == 0 && !c.full {
			return fmt.Errorf("no Instance of %s is Available", c.city)
		}
	}
	return nil
}

// misreadSurge changes the state that a rollout goes by, as a hub with a mistake does.
func (w *world) misreadSurge(s *rollout.State) {
	for i := range s.Cities {
		switch w.broken {
		case "an additional Instance is not known":
			s.Cities[i].Surge = 0
		case "additional Instances beyond the limit":
			s.MaxSurge = 9
		case "no capacity for an additional Instance":
			s.Cities[i].SurgeLate = false
		}
	}
}

// misstepSurge changes the steps of a rollout, as a hub with a mistake does.
func (w *world) misstepSurge(s *rollout.State, result *rollout.Steps) {
	switch w.broken {
	case "an additional Instance is removed too early":
		for i := range result.Take {
			if result.Take[i].Released {
				result.Take[i].Surge = 0
			}
		}
	case "an additional Instance is never removed":
		result.Take = slices.DeleteFunc(result.Take, func(step rollout.Step) bool {
			return step.Released && step.Surge < s.Cities[step.City].Surge
		})
	}
}

// TestModelFindsMistakesOfSurge: so does each rule of additional Instances.
func TestModelFindsMistakesOfSurge(t *testing.T) {
	t.Parallel()
	for _, mistake := range surgeMistakes {
		t.Run(mistake, func(t *testing.T) { t.Parallel(); find(t, mistake) })
	}
}
