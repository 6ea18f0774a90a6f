// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"testing"
)

// overridden is a city with two Instances of the target, in whose cells an override policy has changed it.
func overridden(code string, changes ...func(*City)) City {
	c := City{
		Name: code, Code: code, Template: "good", Observed: true, Cells: 1, Room: 1, Desired: 2,
		Instances: []Instance{{Index: 0, Updated: true, Available: true}, {Index: 1, Updated: true, Available: true}},
		Overrides: []Override{{Cell: code + "-1", Template: "mirror", Instances: 2}},
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

func given(c *City) { c.Turns, c.Overrides[0].Given = true, true }

// done: all Instances have the override.
func done(c *City) { c.Turns, c.Overrides = true, nil }

func unavailable(c *City) { c.Instances[1].Available = false }

// TestOverridesInCityOrder: one cell after another gives its Instances the template that an override policy has changed,
// in the order of the cities, and within the limits of the rollout.
func TestOverridesInCityOrder(t *testing.T) {
	t.Parallel()
	second := func(c *City) {
		c.Overrides = append(c.Overrides, Override{Cell: c.Code + "-2", Template: "other mirror", Instances: 1})
	}
	halfway := func(c *City) { c.Overrides = []Override{{Cell: c.Code + "-2", Template: "other mirror", Instances: 1}} }
	for name, test := range map[string]struct {
		cities []City
		state  State
		// cell has its turn next, and at most atOnce Instances; "": none.
		cell   string
		atOnce int
		// message is a part of what the second city says.
		message string
	}{
		"the first city is first": {[]City{overridden("a"), overridden("b")}, State{}, "a-1", 2, "the Instances of a get"},
		"a batch":                 {[]City{overridden("a"), overridden("b")}, State{Batch: 1}, "a-1", 1, "the Instances of a get"},
		"the second one waits":    {[]City{overridden("a", given), overridden("b")}, State{}, "", 0, "in a, 2 of its Instances"},
		"then it has its turn":    {[]City{overridden("a", done), overridden("b")}, State{}, "b-1", 2, "cell b-1 gets"},
		"a broken override":       {[]City{overridden("a", given, unavailable), overridden("b")}, State{}, "", 0, "1 are not Available"},
		"in all Instances of a city": {
			[]City{overridden("a", done, unavailable), overridden("b")}, State{}, "", 0, "a has had its turn",
		},
		"cells of a city": {[]City{overridden("a", second), overridden("b")}, State{}, "a-1", 2, "the Instances of a get"},
		"the second cell of a city": {
			[]City{overridden("a", done, halfway), overridden("b")}, State{}, "a-2", 2, "the Instances of a get",
		},
		"not while the first is not whole": {
			[]City{overridden("a", done, halfway, unavailable), overridden("b")}, State{}, "", 0, "a has had its turn",
		},
		"only the second city": {
			[]City{overridden("a", func(c *City) { c.Overrides = nil }), overridden("b")}, State{}, "b-1", 2, "b-1",
		},
		"paused": {[]City{overridden("a"), overridden("b")}, State{Paused: true}, "", 0, "spec.rollout.paused"},
		"no report": {
			[]City{overridden("a", func(c *City) { c.Observed = false }), overridden("b")}, State{}, "", 0, "waits",
		},
		"none may be unavailable": {
			[]City{overridden("a"), overridden("b"), overridden("c", unavailable, func(c *City) { c.Overrides = nil })},
			State{MaxUnavailable: 1},
			"", 0, "the Instances of a get",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.state
			s.Target, s.CitiesAtOnce, s.MaxSurge, s.Cities = "good", 1, 0, test.cities
			if s.MaxUnavailable == 0 {
				s.MaxUnavailable = 2
			}
			got := Plan(&s)
			switch {
			case test.cell == "" && len(got.Take) > 0:
				t.Errorf("the steps are %+v", got.Take)
			case test.cell == "":
			case len(got.Take) != 1 || got.Take[0].Override == nil || got.Take[0].Override.Cell != test.cell || got.Take[0].AtOnce != test.atOnce:
				t.Errorf("the steps are %+v", got.Take)
			}
			if message := got.Turns[1].Message; !strings.Contains(message, test.message) {
				t.Errorf("the second city says %s: %q", got.Turns[1].Reason, message)
			}
		})
	}
}

// TestATemplateComesBeforeOverrides: the Instances get the override with the new template, so that none is replaced
// twice. Instances that a cell may replace for an override count for the limit.
func TestATemplateComesBeforeOverrides(t *testing.T) {
	t.Parallel()
	s := State{Target: "next", MaxUnavailable: 1, CitiesAtOnce: 1, Cities: []City{overridden("a"), overridden("b")}}
	got := Plan(&s)
	if len(got.Take) != 1 || got.Take[0].City != 0 || got.Take[0].Override != nil {
		t.Errorf("the steps are %+v", got.Take)
	}
	if got.Turns[1].Reason != OverrideQueued || !strings.Contains(got.Turns[1].Message, "end of the rollout") {
		t.Errorf("the second city says %+v", got.Turns[1])
	}
	s.Cities[1] = overridden("b", given)
	if got := Plan(&s); len(got.Take) > 0 && got.Take[0].City == 0 {
		t.Errorf("while b replaces Instances for an override, the steps are %+v", got.Take)
	}
}

// TestOverridesDoNotEndARollout: a rollout is complete, whatever override policies do.
func TestOverridesDoNotEndARollout(t *testing.T) {
	t.Parallel()
	for _, cities := range [][]City{{overridden("a"), overridden("b")}, {overridden("a", given), overridden("b")}} {
		if got := Plan(&State{Target: "good", MaxUnavailable: 1, CitiesAtOnce: 1, Cities: cities}); got.Phase != Complete {
			t.Errorf("the phase is %s: %s", got.Phase, got.Message)
		}
	}
}
