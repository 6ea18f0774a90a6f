// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"testing"
)

// cityWith is a city whose Instances have the template "before", and are Available.
func cityWith(name string, instances int, change func(*City)) City {
	c := City{Name: name, Code: name, Template: "before", Observed: true, Cells: 1, Room: 1, Desired: instances}
	for index := range instances {
		c.Instances = append(c.Instances, Instance{Index: index, Updated: true, Available: true})
	}
	if change != nil {
		change(&c)
	}
	return c
}

// begun gives the target to the Instances of a city from an index on, which are Available or not.
func begun(index int, available bool) func(*City) {
	return func(c *City) {
		c.Template, c.Partition = "target", &Partition{Index: index, Template: "before"}
		for i := range c.Instances {
			c.Instances[i].Updated = i >= index
			c.Instances[i].Available = i < index || available
		}
	}
}

// released gives the target to all Instances of a city, of which those from an index on have it.
func releasedFrom(index int) func(*City) {
	return func(c *City) {
		c.Template = "target"
		for i := range c.Instances {
			c.Instances[i].Updated = i >= index
		}
	}
}

// TestTurns: each reason why a city takes a step or none.
func TestTurns(t *testing.T) {
	t.Parallel()
	one := func(change func(*City)) []City { return []City{cityWith("a", 2, change)} }
	for name, test := range map[string]struct {
		state State
		want  []Reason
	}{
		"the first Instance":               {State{Cities: one(nil)}, []Reason{StepTaken}},
		"complete":                         {State{Cities: one(releasedFrom(0))}, []Reason{Done}},
		"the cells replace Instances":      {State{Cities: one(releasedFrom(1))}, []Reason{Replacing}},
		"paused":                           {State{Paused: true, Cities: one(nil)}, []Reason{RolloutPaused}},
		"paused, and complete":             {State{Paused: true, Cities: one(releasedFrom(0))}, []Reason{Done}},
		"paused, while cells replace":      {State{Paused: true, Cities: one(releasedFrom(1))}, []Reason{Replacing}},
		"the pause is reached in the city": {State{PauseAfter: 1, Cities: one(begun(1, true))}, []Reason{PauseReached}},
		"the pause was resumed":            {State{PauseAfter: 1, Resumed: true, Cities: one(begun(1, true))}, []Reason{StepTaken}},
		"the last step is not reported":    {State{Cities: one(func(c *City) { begun(1, true)(c); c.Observed = false })}, []Reason{NotReported}},
		"the last change is not reported":  {State{Cities: one(func(c *City) { c.Observed = false })}, []Reason{NotReported}},
		"the Instance is not Available":    {State{Cities: one(begun(1, false))}, []Reason{NotAvailable}},
		"a surplus Instance":               {State{MaxSurge: 1, Cities: one(func(c *City) { c.Desired = 1 })}, []Reason{Surplus}},
		"the limit":                        {State{MaxUnavailable: -1, Cities: one(nil)}, []Reason{Limit}},
		"an additional Instance is missing": {
			State{MaxSurge: 1, Cities: one(func(c *City) { begun(2, true)(c); c.Surge = 1 })}, []Reason{AwaitsAdditional},
		},
		"an additional Instance waits for quota": {State{MaxSurge: 1, Cities: one(func(c *City) {
			begun(2, true)(c)
			c.Surge, c.Instances = 1, append(c.Instances, Instance{Index: 2, Updated: true, Held: true})
		})}, []Reason{AwaitsAdditional}},
		"another city has the first Instance": {
			State{Cities: []City{cityWith("a", 2, begun(1, false)), cityWith("b", 2, nil)}}, []Reason{NotAvailable, Queued},
		},
		"as many cities as are allowed at once": {
			State{CitiesAtOnce: 1, Cities: []City{cityWith("a", 2, begun(1, true)), cityWith("b", 2, nil)}}, []Reason{StepTaken, Queued},
		},
		"two cities at once": {
			State{CitiesAtOnce: 2, MaxUnavailable: 4, Cities: []City{cityWith("a", 2, begun(1, true)), cityWith("b", 2, nil)}},
			[]Reason{StepTaken, StepTaken},
		},
		"two placements of a city": {
			State{CitiesAtOnce: 2, Cities: []City{cityWith("a", 2, begun(1, true)), cityWith("b", 2, func(c *City) { c.Code = "a" })}},
			[]Reason{StepTaken, Queued},
		},
		"behind a city that waits": {
			State{Proven: true, Cities: []City{cityWith("a", 2, func(c *City) { c.Observed = false }), cityWith("b", 2, nil)}},
			[]Reason{NotReported, Queued},
		},
		"the pause after the first city": {
			State{PauseAfterFirst: true, Cities: []City{cityWith("a", 2, releasedFrom(0)), cityWith("b", 2, nil)}}, []Reason{Done, PauseReached},
		},
		"the first Instance is a repair in another city": {
			State{Cities: []City{cityWith("a", 2, begun(2, true)), cityWith("b", 2, func(c *City) {
				begun(1, false)(c)
				c.Instances[1].Updated = true
			})}}, []Reason{AwaitsFirst, NotAvailable},
		},
		"the budget has slack for unavailable Instances alone": {
			State{NoSlack: true, Cities: []City{cityWith("a", 2, begun(1, true)), cityWith("b", 2, func(c *City) {
				c.Instances[1].Available = false
			})}}, []Reason{Repair, StepTaken},
		},
	} {
		test.state.Target = "target"
		test.state.MaxUnavailable = max(0, test.state.MaxUnavailable+1)
		plan := Plan(&test.state)
		var got []Reason
		for i, turn := range plan.Turns {
			got = append(got, turn.Reason)
			taken := slices.ContainsFunc(plan.Take, func(s Step) bool { return s.City == i })
			if turn.Message == "" || taken != (turn.Reason == StepTaken) {
				t.Errorf("%s: city %d has %+v, and the steps are %+v", name, i, turn, plan.Take)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v: %+v", name, got, test.want, plan)
		}
	}
}

// TestScaledToNone: a city that should have no Instances any more ends its additional ones.
func TestScaledToNone(t *testing.T) {
	t.Parallel()
	city := cityWith("a", 2, releasedFrom(0))
	city.Desired, city.Surge, city.Missing = 0, 1, 1
	if plan := Plan(&State{Target: "target", MaxUnavailable: 1, Cities: []City{city}}); len(plan.Take) != 1 || plan.Take[0].Surge != 0 {
		t.Errorf("the steps are %+v: %s", plan.Take, plan.Message)
	}
}
