// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import "testing"

// TestBrokenInstancesOfALaterCity: they use up maxUnavailable, so that the city in progress waits for them, and only
// the new template repairs them.
func TestBrokenInstancesOfALaterCity(t *testing.T) {
	t.Parallel()
	first := City{
		Name: "a", Code: "a", Template: "corrected", Partition: &Partition{Index: 1, Template: "good"}, Observed: true,
		Cells: 1, Room: 1, Desired: 2,
		Instances: []Instance{{Index: 0, Available: true}, {Index: 1, Updated: true, Available: true}},
	}
	second := City{
		Name: "b", Code: "b", Template: "broken", Partition: &Partition{Template: "good"}, Observed: true, Cells: 1, Room: 1, Desired: 2,
		Instances: []Instance{{Index: 0, Updated: true}, {Index: 1, Updated: true}},
	}
	result := Plan(&State{Target: "corrected", MaxUnavailable: 2, CitiesAtOnce: 1, Cities: []City{first, second}})
	if len(result.Take) != 1 || result.Take[0].City != 1 {
		t.Errorf("the steps are %+v: %s", result.Take, result.Message)
	}
	// While the limit lets the city in progress continue, the next one waits for its turn.
	result = Plan(&State{Target: "corrected", MaxUnavailable: 4, CitiesAtOnce: 1, Cities: []City{first, second}})
	for _, step := range result.Take {
		if step.City == 1 {
			t.Errorf("the next city starts: %+v", result.Take)
		}
	}
	// A city between them waits, and does not hold up the last one.
	between := second
	between.Name, between.Code = "aa", "aa"
	between.Instances = []Instance{{Index: 0, Updated: true, Available: true}, {Index: 1, Updated: true, Available: true}}
	result = Plan(&State{Target: "corrected", MaxUnavailable: 2, CitiesAtOnce: 1, Cities: []City{first, between, second}})
	if len(result.Take) != 1 || result.Take[0].City != 2 {
		t.Errorf("behind a city that waits the steps are %+v: %s", result.Take, result.Message)
	}
}

// TestUnavailableInstanceBelowThePartition: the earlier template does not start any more, and the limit of the cell is
// used up, so that the Instance that has its turn would wait for it forever. First the turn is taken back, since the
// cell may have begun.
func TestUnavailableInstanceBelowThePartition(t *testing.T) {
	t.Parallel()
	city := func(change func(*City)) City {
		c := City{
			Name: "a", Code: "a", Template: "corrected", Partition: &Partition{Index: 2, Template: "good"}, Observed: true,
			Cells: 1, Room: 1, Desired: 3,
			Instances: []Instance{{Index: 0, Available: true}, {Index: 1}, {Index: 2, Available: true}},
		}
		change(&c)
		return c
	}
	const none = -1
	for name, test := range map[string]struct {
		city  City
		index int
	}{
		"the turn is taken back":                {city(func(*City) {}), MaxIndex},
		"then the unavailable one has it":       {city(func(c *City) { c.Partition.Index = MaxIndex }), 1},
		"not before the cell has observed that": {city(func(c *City) { c.Partition.Index, c.Observed = MaxIndex, false }), none},
		"the cell has begun":                    {city(func(c *City) { c.Instances[2] = Instance{Index: 2, Updated: true} }), none},
		"the cell may have begun":               {city(func(c *City) { c.Instances, c.Missing = c.Instances[:2], 1 }), none},
		"in order, it cannot have":              {city(func(c *City) { c.Instances, c.Missing, c.Ordered = c.Instances[:2], 1, true }), MaxIndex},
		"none is unavailable":                   {city(func(c *City) { c.Instances[1].Available = true }), none},
		"one that waits for quota":              {city(func(c *City) { c.Instances[1].Held = true }), none},
		"an additional one has the turn":        {city(func(c *City) { c.Desired, c.Surge = 2, 1 }), MaxIndex},
		"the additional one is not created yet": {
			city(func(c *City) { c.Desired, c.Surge, c.Instances, c.Missing, c.Ordered = 2, 1, c.Instances[:2], 1, true }), none,
		},
	} {
		result := Plan(&State{Target: "corrected", MaxUnavailable: 3, CitiesAtOnce: 1, Cities: []City{test.city}})
		if steps := result.Take; test.index == none && len(steps) > 0 || test.index != none && (len(steps) != 1 || steps[0].Index != test.index) {
			t.Errorf("%s: the steps are %+v: %s", name, steps, result.Message)
		}
	}
}

// TestSlackOfTheCityToRepair: its cells may not be able to use it, so that it does not let the first city begin.
func TestSlackOfTheCityToRepair(t *testing.T) {
	t.Parallel()
	whole := []Instance{{Index: 0, Updated: true, Available: true}, {Index: 1, Updated: true, Available: true}}
	first := City{Name: "a", Code: "a", Template: "good", Observed: true, Cells: 1, Room: 1, Desired: 2, Instances: whole}
	second := City{
		Name: "b", Code: "b", Template: "good", Observed: true, Cells: 1, Room: 1, Desired: 2,
		Instances: []Instance{whole[0], {Index: 1, Updated: true}},
	}
	for name, test := range map[string]struct{ first, second, want int }{"there": {0, 1, 1}, "elsewhere": {1, 0, 0}, "in both": {1, 1, 0}} {
		first.Slack, second.Slack = test.first, test.second
		result := Plan(&State{
			Target: "corrected", MaxUnavailable: 3, CitiesAtOnce: 1, Slack: test.first + test.second, Cities: []City{first, second},
		})
		if len(result.Take) == 0 || result.Take[0].City != test.want {
			t.Errorf("slack %s: the steps are %+v: %s", name, result.Take, result.Message)
		}
	}
}

// TestWordsOfARepair: the message of a city that waits for the repair of another one does not deny the slack that the
// budget has.
func TestWordsOfARepair(t *testing.T) {
	t.Parallel()
	for slack, want := range []string{
		"a: waits: the disruption budget lets no Available Instance be replaced; the unavailable ones get the new template first",
		"a: waits: the slack of the disruption budget is in cities with unavailable Instances; these get the new template first",
	} {
		first := City{
			Name: "a", Code: "a", Template: "corrected", Partition: &Partition{Index: 1, Template: "good"}, Observed: true,
			Cells: 1, Room: 1, Desired: 2,
			Instances: []Instance{{Index: 0, Available: true}, {Index: 1, Updated: true, Available: true}},
		}
		second := City{
			Name: "b", Code: "b", Template: "good", Observed: true, Cells: 1, Room: 1, Desired: 2, Slack: slack,
			Instances: []Instance{{Index: 0, Updated: true, Available: true}, {Index: 1, Updated: true}},
		}
		result := Plan(&State{
			Target: "corrected", MaxUnavailable: 1, CitiesAtOnce: 1, NoSlack: slack == 0, Slack: slack, Cities: []City{first, second},
		})
		if result.Message != want {
			t.Errorf("with slack %d it is %q", slack, result.Message)
		}
	}
}

// TestTakingOverCounts: the cells of a city may still replace an Instance by the template before, which the city that
// begins must not forget.
func TestTakingOverCounts(t *testing.T) {
	t.Parallel()
	of := func(name string, updated bool) City {
		return City{
			Name: name, Code: name, Template: "before", Observed: true, Cells: 1, Room: 1, Desired: 1,
			Instances: []Instance{{Index: 0, Updated: updated, Available: true}},
		}
	}
	cities := []City{of("a", true), of("b", false)}
	result := Plan(&State{Target: "good", Proven: true, MaxUnavailable: 1, CitiesAtOnce: 2, Batch: 1, Cities: cities})
	if len(result.Take) != 1 || result.Take[0].City != 1 || !result.Take[0].Cautious {
		t.Errorf("the steps are %+v: %s", result.Take, result.Message)
	}
}

// TestRepairWithoutSlack: the disruption budget lets no Available Instance be replaced, and only the target repairs an
// Instance of the last city. Each would wait for the other.
func TestRepairWithoutSlack(t *testing.T) {
	t.Parallel()
	whole := func(name string) City {
		return City{
			Name: name, Code: name, Template: "good", Observed: true, Cells: 1, Room: 1, Desired: 2,
			Instances: []Instance{{Index: 0, Updated: true, Available: true}, {Index: 1, Updated: true, Available: true}},
		}
	}
	broken := whole("c")
	broken.Instances[1].Available = false
	// given has the target at index 1, and its cell waits for the budget.
	given := whole("a")
	given.Template, given.Partition = "corrected", &Partition{Index: 1, Template: "good"}
	given.Instances[0].Updated, given.Instances[1].Updated = false, false
	late, taken, replaced := given, given, given
	additional := given
	additional.Desired, additional.Surge = 1, 1
	late.Observed = false
	taken.Partition = &Partition{Index: MaxIndex, Template: "good"}
	replaced.Instances = []Instance{{Index: 0, Available: true}, {Index: 1, Updated: true}}
	repaired := broken
	repaired.Template, repaired.Partition = "corrected", &Partition{Index: 1, Template: "good"}
	repaired.Instances = []Instance{{Index: 0, Available: true}, {Index: 1, Updated: true, Available: true}}
	inRepair := repaired
	inRepair.Instances = []Instance{{Index: 0, Available: true}, {Index: 1, Updated: true}}
	unreachable := broken
	unreachable.Unreachable = true

	const none = -1
	for name, test := range map[string]struct {
		cities []City
		slack  bool
		city   int
		index  int
	}{
		"with slack the first city is first":            {[]City{whole("a"), whole("b"), broken}, true, 0, 1},
		"without, the unavailable Instance is":          {[]City{whole("a"), whole("b"), broken}, false, 2, 1},
		"one that is unknown waits":                     {[]City{whole("a"), whole("b"), unreachable}, false, 0, 1},
		"an Instance that waits for the budget waits":   {[]City{given, whole("b"), broken}, false, 0, MaxIndex},
		"so does an additional Instance":                {[]City{additional, whole("b"), broken}, false, 0, MaxIndex},
		"with slack it is replaced":                     {[]City{given, whole("b"), broken}, true, none, 0},
		"its cell has to confirm that":                  {[]City{late, whole("b"), broken}, false, none, 0},
		"then it is the turn of the unavailable one":    {[]City{taken, whole("b"), broken}, false, 2, 1},
		"the first Instance is alone":                   {[]City{replaced, whole("b"), broken}, false, none, 0},
		"the repair is alone":                           {[]City{taken, whole("b"), inRepair}, false, none, 0},
		"after the repair it is the first city's turn":  {[]City{taken, whole("b"), repaired}, true, 0, 0},
		"without an unavailable one, as with any slack": {[]City{whole("a"), whole("b"), whole("c")}, false, 0, 1},
	} {
		result := Plan(&State{Target: "corrected", MaxUnavailable: 2, CitiesAtOnce: 1, NoSlack: !test.slack, Cities: test.cities})
		switch steps := result.Take; {
		case test.city == none && len(steps) == 0:
		case test.city != none && (len(steps) == 1 || test.slack && len(steps) > 1) && steps[0].City == test.city &&
			(steps[0].Released || steps[0].Index == test.index):
		default:
			t.Errorf("%s: the steps are %+v: %s", name, steps, result.Message)
		}
	}
}
