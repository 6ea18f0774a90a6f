// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// simulate returns the first violation.
func simulate(seed uint64, steps int, m mistake) string {
	w := newWorld(seed, m)
	for range steps {
		w.step()
		if violation := w.check(); violation != "" {
			return fmt.Sprintf("seed %d: %s\n%s", seed, violation, strings.Join(w.log[max(0, len(w.log)-12):], "\n"))
		}
	}
	w.target, w.paused = "good-last", false
	for range 400 {
		w.reconcile(false)
		w.settle()
		if violation := w.check(); violation != "" {
			return fmt.Sprintf("seed %d at the end: %s\n%s", seed, violation, strings.Join(w.log[max(0, len(w.log)-12):], "\n"))
		}
	}
	if result := w.reconcile(false); result.Phase != Complete {
		return fmt.Sprintf("seed %d does not converge: %s: %s\n%s", seed, result.Phase, result.Message, strings.Join(w.log[max(0, len(w.log)-12):], "\n"))
	}
	for _, c := range w.cities {
		for index, i := range c.instances {
			if i.template != w.target {
				return fmt.Sprintf("seed %d: Instance %d in %s has template %s at the end", seed, index, c.name, i.template)
			}
		}
	}
	return ""
}

func TestSimulation(t *testing.T) {
	t.Parallel()
	// SEEDS=2500 are 1,000,000 steps.
	seeds, err := strconv.ParseUint(cmp.Or(os.Getenv("SEEDS"), "150"), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range seeds {
		if violation := simulate(seed, 400, mistake{}); violation != "" {
			t.Fatal(violation)
		}
	}
}

// TestTheSimulationFindsMistakes: each rule is needed.
func TestTheSimulationFindsMistakes(t *testing.T) {
	t.Parallel()
	eachCity := func(change func(*City)) func(*State) {
		return func(s *State) {
			for i := range s.Cities {
				change(&s.Cities[i])
			}
		}
	}
	mistakes := map[string]mistake{
		"no canary":                     {input: func(s *State) { s.Proven = true }},
		"reports on an earlier step":    {input: eachCity(func(c *City) { c.Observed = true })},
		"unavailable Instances":         {input: eachCity(func(c *City) { setAvailable(c) })},
		"missing Instances":             {input: eachCity(func(c *City) { c.Missing = 0 })},
		"all cities at once":            {input: func(s *State) { s.CitiesAtOnce, s.MaxUnavailable = 9, 9 }},
		"the room of cells":             {input: eachCity(func(c *City) { c.Room = 0 }), output: nil},
		"new Instances get the target":  {output: func(_ *State, r *Result) { r.Steps = slices.DeleteFunc(r.Steps, func(s Step) bool { return s.Held }) }},
		"the stable template is lost":   {output: func(s *State, r *Result) { eachStep(r, func(step *Step) { step.Stable = s.Target }) }},
		"the partition is one too low":  {output: func(_ *State, r *Result) { eachStep(r, func(step *Step) { step.Index-- }) }},
		"steps from a cache":            {cached: true},
		"healthy Instances are changed": {restore: true},
		"a partition is never removed": {output: func(_ *State, r *Result) {
			r.Steps = slices.DeleteFunc(r.Steps, func(s Step) bool { return s.Released })
		}},
	}
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(1000) {
				if simulate(seed, 400, m) != "" {
					return
				}
			}
			t.Error("the simulation does not find it")
		})
	}
}

func setAvailable(c *City) {
	for i := range c.Instances {
		c.Instances[i].Available = true
	}
}

func eachStep(r *Result, change func(*Step)) {
	for i := range r.Steps {
		change(&r.Steps[i])
	}
}
