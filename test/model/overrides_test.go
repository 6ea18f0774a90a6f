// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
)

// override is the template that an override policy makes of the newest one in a cell, and how many Instances wait for
// it.
type override struct {
	cell, template, given string
	waiting               int
}

// turns are the templates for which the cells of a city have had their turns, and how many Instances the last one may
// replace at once after the first one.
type turns struct {
	of     map[string]string
	atOnce int
}

// overrideMistakes are mistakes about overrides. The rare ones need a thousand worlds.
var (
	overrideMistakes = []string{
		"cells do not wait for their turn", "overrides go beyond the limit", "unavailable Instances do not hold up overrides",
		"a turn is forgotten", "no turn is given",
	}
	rareOverrideMistakes = []string{"reports on an earlier turn", "cities that have had a turn do not matter"}
)

// addPolicies gives a world in five override policies, and fewer changes of the Workload.
func (w *world) addPolicies(seed uint64) {
	if seed%5 == 2 || slices.Contains(slices.Concat(overrideMistakes, rareOverrideMistakes), w.broken) {
		w.policies = rand.New(rand.NewPCG(seed, 4))
	}
}

// stepPolicies changes at times the override policy of some cells. Karmada writes all of them at once.
func (w *world) stepPolicies() {
	if w.policies == nil || w.policies.IntN(40) > 0 {
		return
	}
	w.policyVersion++
	policy := fmt.Sprintf("@%s-%d", []string{"good", "good", "broken"}[w.policies.IntN(3)], w.policyVersion)
	for _, name := range names(w.cells) {
		if c := w.cells[name]; !c.cut && w.policies.IntN(2) == 0 {
			c.policy = policy
		}
	}
}

// lastPolicies are the last policies of all cells, one after the other: the first one meets a rollout.
func (w *world) lastPolicies() []string {
	if w.policies == nil {
		return []string{""}
	}
	return []string{"@good-before", "@good-last"}
}

// given is the template of new Instances that are not below the partition.
func (c *cell) given() string { return c.spec.template + c.policy }

// overridden reports whether an Instance differs from new ones by the policy alone.
func (c *cell) overridden(index int) bool {
	one := c.instances[index]
	return one != nil && !c.below(index) && one.template == c.spec.template && one.policy != c.policy
}

func (c *cell) hasTurn() bool { return c.spec.turns != nil && c.spec.turns.of[c.name] == c.given() }

// override returns the override that a cell reports.
func (c *cell) override() override {
	o := override{cell: c.name, template: c.spec.template, given: c.given()}
	for _, index := range c.indices {
		if c.overridden(index) {
			o.waiting++
		}
	}
	return o
}

// turn is how many Available Instances a cell may replace now for its policy: one, and more when it is Available.
func (w *world) turn(c *cell) int {
	hasty := w.broken == "cells do not wait for their turn"
	if !c.hasTurn() && !hasty {
		return 0
	}
	proven, starting := 0, 0
	for _, index := range c.indices {
		switch one := c.instances[index]; {
		case one == nil:
			starting++
		case c.below(index) || one.template != c.spec.template || one.policy != c.policy:
		case one.available:
			proven++
		default:
			starting++
		}
	}
	switch {
	case proven == 0:
		return max(0, 1-starting)
	case starting > 0:
		return 0
	case hasty:
		return len(c.indices)
	}
	return c.spec.turns.atOnce
}

// mustReplace reports whether the Instance at an index is outdated, or its cell may give it the policy.
func (w *world) mustReplace(c *cell, index, turn int) bool {
	return w.outdated(c, index) || c.overridden(index) && (!c.instances[index].available || turn > 0)
}

// useTurn notes an Instance that its cell takes down and that gets another policy. It returns how much of the turn is used.
func (c *cell) useTurn(index int, inTurn bool) int {
	if !c.overridden(index) {
		return 0
	}
	c.turned[index] = inTurn
	return 1
}

// addOverrides adds the overrides of the newest template.
func (d *deployment) addOverrides(city *rollout.City) {
	city.Turns = d.spec.turns != nil
	for _, o := range d.overrides {
		if o.waiting > 0 && o.template == d.spec.template {
			city.Overrides = append(city.Overrides, rollout.Override{
				Cell: o.cell, Template: o.given, Instances: o.waiting, Given: city.Turns && d.spec.turns.of[o.cell] == o.given,
			})
		}
	}
}

// giveTurn records the turn of a cell.
func (s *spec) giveTurn(step *rollout.Step) {
	next := turns{of: map[string]string{}, atOnce: step.AtOnce}
	if s.turns != nil {
		next.of = maps.Clone(s.turns.of)
	}
	next.of[step.Override.Cell] = step.Override.Template
	s.turns = &next
	s.generation++
}

// checkTurns: while nothing else fails, a broken override stops at one Instance.
func (w *world) checkTurns() error {
	if !w.quiet {
		return nil
	}
	broken := map[string]int{}
	for _, c := range w.cells {
		for _, one := range c.instances {
			if one.turned && isBroken(one.policy) {
				broken[one.policy]++
			}
		}
	}
	for policy, count := range broken {
		if count > 1 {
			return fmt.Errorf("%d Instances have got override %s in their turn", count, policy)
		}
	}
	return nil
}

// misreadOverrides changes the state that turns for overrides go by, as a hub with a mistake does.
func (w *world) misreadOverrides(s *rollout.State) {
	if rollout.Unfinished(s) || !rollout.Overridden(s) {
		return
	}
	for i := range s.Cities {
		c := &s.Cities[i]
		switch w.broken {
		case "overrides go beyond the limit":
			s.MaxUnavailable = 9
		case "unavailable Instances do not hold up overrides":
			for n := range c.Instances {
				c.Instances[n].Available = true
			}
		case "a turn is forgotten":
			c.Overrides = slices.DeleteFunc(c.Overrides, func(o rollout.Override) bool { return o.Given })
		case "reports on an earlier turn":
			c.Observed = true
		case "cities that have had a turn do not matter":
			c.Turns = false
		case "no turn is given":
			s.Paused = true
		}
	}
}

// TestModelFindsMistakesOfOverrides: so does each rule of overrides.
func TestModelFindsMistakesOfOverrides(t *testing.T) {
	t.Parallel()
	for _, mistake := range overrideMistakes {
		t.Run(mistake, func(t *testing.T) { t.Parallel(); find(t, mistake) })
	}
}
