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
		return fmt.Sprintf("seed %d does not converge: %s: %s\n%s", seed, result.Phase, result.Message,
			strings.Join(w.log[max(0, len(w.log)-12):], "\n"))
	}
	for _, c := range w.cities {
		if len(c.instances) != c.newest().replicas {
			return fmt.Sprintf("seed %d: %s has %d Instances at the end, not %d", seed, c.name, len(c.instances), c.newest().replicas)
		}
		for index, i := range c.instances {
			if i.template != w.target {
				return fmt.Sprintf("seed %d: Instance %d in %s has template %s at the end", seed, index, c.name, i.template)
			}
		}
	}
	return ""
}

// check returns what must not be.
func (w *world) check() string {
	if w.violation != "" {
		return w.violation
	}
	broken, unavailable, total, surge := 0, 0, 0, 0
	for _, c := range w.cities {
		total, surge = total+c.newest().replicas, surge+c.newest().surge
		available := 0
		for _, i := range c.instances {
			if isBroken(i.template) {
				broken++
			}
			if i.available {
				available++
			}
		}
		unavailable += max(0, c.cell.replicas-available)
		if available == 0 && w.mustServe(c) {
			return c.name + ": a single Instance is interrupted"
		}
	}
	switch most := w.limit(total); {
	case w.maxSurge >= 0 && surge > w.maxSurge:
		return fmt.Sprintf("%d additional Instances", surge)
	case broken > 1+w.faults:
		return fmt.Sprintf("%d Instances have a broken template", broken)
	case w.calm && unavailable > most:
		return fmt.Sprintf("%d of %d Instances are unavailable", unavailable, total)
	}
	return ""
}

// mustServe reports whether a city has an Available Instance at every moment, also if it has a single one.
func (w *world) mustServe(c *city) bool {
	return w.calm && !c.full && (w.maxSurge == SurgeSingle || w.maxSurge > 0 && len(w.cities) == 1)
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
		"no canary":                  {input: func(s *State) { s.Proven = true }},
		"reports on an earlier step": {input: eachCity(func(c *City) { c.Observed = true })},
		"unavailable Instances":      {input: eachCity(func(c *City) { setAvailable(c) })},
		"missing Instances":          {input: eachCity(func(c *City) { c.Missing = 0 })},
		"all cities at once":         {input: func(s *State) { s.CitiesAtOnce, s.MaxUnavailable = 9, 9 }},
		"the room of cells":          {input: eachCity(func(c *City) { c.Room = 0 }), output: nil},
		"new Instances get the target": {
			output: func(_ *State, r *Steps) { r.Take = slices.DeleteFunc(r.Take, func(s Step) bool { return s.Held }) },
		},
		"the stable template is lost":           {output: func(s *State, r *Steps) { eachStep(r, func(step *Step) { step.Stable = s.Target }) }},
		"the partition is one too low":          {output: func(_ *State, r *Steps) { eachStep(r, func(step *Step) { step.Index-- }) }},
		"an additional Instance is not known":   {input: eachCity(func(c *City) { c.Surge = 0 })},
		"additional Instances beyond the limit": {input: func(s *State) { s.MaxSurge = 9 }},
		"an additional Instance is removed too early": {output: func(_ *State, r *Steps) {
			eachStep(r, func(step *Step) {
				if step.Released {
					step.Surge = 0
				}
			})
		}},
		"an additional Instance is never removed": {output: func(s *State, r *Steps) {
			r.Take = slices.DeleteFunc(r.Take, func(step Step) bool { return step.Released && step.Surge < s.Cities[step.City].Surge })
		}},
		"no capacity for an additional Instance": {input: eachCity(func(c *City) { c.SurgeLate = false })},
		"steps from a cache":                     {cached: true},
		"healthy Instances are changed":          {restore: true},
		"a partition is never removed": {output: func(_ *State, r *Steps) {
			r.Take = slices.DeleteFunc(r.Take, func(s Step) bool { return s.Released })
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

func eachStep(r *Steps, change func(*Step)) {
	for i := range r.Take {
		change(&r.Take[i])
	}
}
