// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// overrideWorld plays cells in which override policies change a template that all Instances have, the reports of the
// cells, which are late, and the hub, which gives turns.
type overrideWorld struct {
	random  *rand.Rand
	cities  []*overrideCity
	log     []string
	version int
	// change is a mistake in what the planner reads; nil: none. hasty cells do not wait for their turn.
	change func(*State)
	hasty  bool
}

// overrideCity is a city, and what the hub has of it. Cells act on turns, and report with a generation.
type overrideCity struct {
	code             string
	cells            []*overrideCell
	generation, seen int
	reported         City
	turns            map[string]string
	atOnce           int
}

// overrideCell is a cell: given is the template that the policy makes of the one that the hub has sent.
type overrideCell struct {
	name, given, turn string
	atOnce            int
	instances         []overrideInstance
}

type overrideInstance struct {
	has       string
	available bool
}

func newOverrideWorld(seed uint64) *overrideWorld {
	w := &overrideWorld{random: rand.New(rand.NewPCG(seed, 3))}
	for _, code := range []string{"a", "b", "c"} {
		c := &overrideCity{code: code, turns: map[string]string{}}
		for i := range 1 + w.random.IntN(2) {
			cell := &overrideCell{name: fmt.Sprintf("%s-%d", code, i)}
			for range 1 + w.random.IntN(4) {
				cell.instances = append(cell.instances, overrideInstance{available: true})
			}
			c.cells = append(c.cells, cell)
		}
		w.cities = append(w.cities, c)
		c.report()
	}
	return w
}

// report replaces the view that the hub has of the city.
func (c *overrideCity) report() {
	c.seen = c.generation
	c.reported = City{Name: c.code, Code: c.code, Template: "good", Cells: len(c.cells), Room: len(c.cells), Turns: len(c.turns) > 0}
	for _, cell := range c.cells {
		waiting := 0
		for _, i := range cell.instances {
			c.reported.Instances = append(c.reported.Instances, Instance{Index: len(c.reported.Instances), Updated: true, Available: i.available})
			if i.has != cell.given {
				waiting++
			}
		}
		if waiting > 0 {
			c.reported.Overrides = append(c.reported.Overrides, Override{Cell: cell.name, Template: cell.given, Instances: waiting})
		}
	}
	c.reported.Desired = len(c.reported.Instances)
}

func (w *overrideWorld) total() (total, missing int) {
	for _, c := range w.cities {
		for _, cell := range c.cells {
			for _, i := range cell.instances {
				total++
				if !i.available {
					missing++
				}
			}
		}
	}
	return total, missing
}

func (w *overrideWorld) limit() int {
	total, _ := w.total()
	return max(1, total/4)
}

// reconcile plays the hub.
func (w *overrideWorld) reconcile() Steps {
	s := State{Target: "good", Proven: true, MaxUnavailable: w.limit(), CitiesAtOnce: 1, MaxSurge: 0}
	for _, c := range w.cities {
		city := c.reported
		city.Observed, city.Turns, city.Overrides = c.seen == c.generation, len(c.turns) > 0, slices.Clone(city.Overrides)
		for i := range city.Overrides {
			city.Overrides[i].Given = c.turns[city.Overrides[i].Cell] == city.Overrides[i].Template
		}
		s.Cities = append(s.Cities, city)
	}
	if w.change != nil {
		w.change(&s)
	}
	result := Plan(&s)
	for _, step := range result.Take {
		c := w.cities[step.City]
		c.turns[step.Override.Cell] = step.Override.Template
		c.atOnce = step.AtOnce
		c.generation++
		w.log = append(w.log, fmt.Sprintf("%s: turn for %s, %d at once", step.Override.Cell, step.Override.Template, step.AtOnce))
	}
	return result
}

// act plays cell/deployments of one cell, which has what the hub has sent.
func (w *overrideWorld) act(c *overrideCity, cell *overrideCell) {
	cell.turn, cell.atOnce = c.turns[cell.name], c.atOnce
	proven, starting := 0, 0
	for _, i := range cell.instances {
		switch {
		case i.has != cell.given:
		case i.available:
			proven++
		default:
			starting++
		}
	}
	most := max(0, 1-starting)
	if proven > 0 {
		most = 0
		if starting == 0 {
			most = cell.atOnce
		}
	}
	if cell.turn != cell.given && !w.hasty {
		most = 0
	}
	for at := range cell.instances {
		i := &cell.instances[at]
		switch {
		case i.has == cell.given:
		case !i.available:
			i.has = cell.given
		case most > 0 && w.cellAllows(cell):
			*i = overrideInstance{has: cell.given}
			most--
		}
	}
}

// cellAllows reports whether the limit of a cell lets one Instance more be unavailable.
func (*overrideWorld) cellAllows(cell *overrideCell) bool {
	missing := 0
	for _, i := range cell.instances {
		if !i.available {
			missing++
		}
	}
	return missing < max(1, len(cell.instances)/2)
}

func (*overrideWorld) start(cell *overrideCell) {
	for at := range cell.instances {
		if i := &cell.instances[at]; !strings.HasPrefix(i.has, "broken") {
			i.available = true
		}
	}
}

// step performs a random action.
func (w *overrideWorld) step() {
	c := w.cities[w.random.IntN(len(w.cities))]
	cell := c.cells[w.random.IntN(len(c.cells))]
	switch event := w.random.IntN(100); {
	case event < 30:
		w.reconcile()
	case event < 60:
		w.act(c, cell)
	case event < 75:
		w.start(cell)
	case event < 97:
		// A report is about what all cells of the city have acted on.
		if !slices.ContainsFunc(c.cells, func(cell *overrideCell) bool { return cell.turn != c.turns[cell.name] }) {
			c.report()
		}
	default:
		w.policy()
	}
}

// policy changes the override policy of some cells. Each change is another one.
func (w *overrideWorld) policy() {
	w.version++
	name := fmt.Sprintf("good-%d", w.version)
	if w.random.IntN(3) == 0 {
		name = fmt.Sprintf("broken-%d", w.version)
	}
	for _, c := range w.cities {
		for _, cell := range c.cells {
			if w.random.IntN(2) == 0 {
				cell.given = name
			}
		}
	}
	w.log = append(w.log, "policy "+name)
}

func (w *overrideWorld) check(seed uint64, when string) string {
	if _, missing := w.total(); missing > w.limit() {
		return fmt.Sprintf("seed %d %s: %d are unavailable, and %d may be\n%s", seed, when, missing, w.limit(),
			strings.Join(w.log[max(0, len(w.log)-12):], "\n"))
	}
	return ""
}

// simulateOverrides returns the first violation.
func simulateOverrides(seed uint64, change func(*State), hasty bool) string {
	w := newOverrideWorld(seed)
	w.change, w.hasty = change, hasty
	for range 400 {
		w.step()
		if violation := w.check(seed, "in between"); violation != "" {
			return violation
		}
	}
	for _, c := range w.cities {
		for _, cell := range c.cells {
			cell.given = "good-last"
		}
	}
	for range 100 {
		w.reconcile()
		for _, c := range w.cities {
			for _, cell := range c.cells {
				w.act(c, cell)
				w.start(cell)
			}
			c.report()
		}
		if violation := w.check(seed, "at the end"); violation != "" {
			return violation
		}
	}
	for _, c := range w.cities {
		for _, cell := range c.cells {
			if slices.ContainsFunc(cell.instances, func(i overrideInstance) bool { return i.has != "good-last" || !i.available }) {
				return fmt.Sprintf("seed %d: cell %s ends with %+v\n%s", seed, cell.name, cell.instances,
					strings.Join(w.log[max(0, len(w.log)-12):], "\n"))
			}
		}
	}
	if result := w.reconcile(); result.Phase != Complete || len(result.Take) > 0 {
		return fmt.Sprintf("seed %d ends with %+v", seed, result)
	}
	return ""
}

// TestSimulatedOverrides: whatever policies change, in any order of reports, no more Instances are unavailable than may
// be, and the last policy reaches all Instances.
func TestSimulatedOverrides(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		if violation := simulateOverrides(seed, nil, false); violation != "" {
			t.Fatal(violation)
		}
	}
}

// TestTheSimulationOfOverridesFindsMistakes: each rule is needed.
func TestTheSimulationOfOverridesFindsMistakes(t *testing.T) {
	t.Parallel()
	each := func(change func(*City)) func(*State) {
		return func(s *State) {
			for i := range s.Cities {
				change(&s.Cities[i])
			}
		}
	}
	for name, test := range map[string]struct {
		change func(*State)
		hasty  bool
	}{
		"cells do not wait":            {hasty: true},
		"unavailable Instances":        {change: each(setAvailable)},
		"the limit":                    {change: func(s *State) { s.MaxUnavailable = 9 }},
		"turns that are given":         {change: each(forgetGiven)},
		"reports on an earlier turn":   {change: each(func(c *City) { c.Observed = true; setAvailable(c) })},
		"cities that have had a turn":  {change: func(s *State) { each(func(c *City) { c.Turns = false })(s); s.MaxUnavailable = 9 }},
		"no turn is ever given at all": {change: func(s *State) { s.Paused = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(300) {
				if simulateOverrides(seed, test.change, test.hasty) != "" {
					return
				}
			}
			t.Error("the simulation does not find it")
		})
	}
}

func forgetGiven(c *City) {
	c.Overrides = slices.DeleteFunc(c.Overrides, func(o Override) bool { return o.Given })
}
