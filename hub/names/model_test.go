// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// modelSeeds are the worlds of the model check, of modelSteps steps each.
const (
	modelSeeds = 300
	modelSteps = 200
)

// modelDrain is drainSeconds, and namesPatience how long the Instances wait for names that are not written, as in hub/deployments/plan.
const (
	modelDrain    = 30 * time.Second
	namesPatience = 2 * time.Minute
)

// TestModel checks answers over time: cities fail, blink, are lost to the hub or to the party that asks addresses, leave and return, while
// reconciles are late and writes fail. Three faults are unforgivable: a name without a city that serves, a name of one city
// because it was faster, and a stopped Instance in a name after drainSeconds. No silence takes more than its share.
func TestModel(t *testing.T) {
	t.Parallel()
	var done explored
	for seed := range uint64(modelSeeds) {
		if err := explore(seed, "", &done); err != nil {
			t.Fatal(err)
		}
	}
	if done.empty < modelSeeds || done.held < modelSeeds || done.doubts < modelSeeds || done.stops < modelSeeds {
		t.Errorf("the model checks too little: %+v", done)
	}
	t.Logf("%+v", done)
}

// explored counts what the worlds have met.
type explored struct{ empty, held, doubts, stops int }

// city is a city as it is, and as the hub knows it.
type city struct {
	fact
	runs, contact, reachable bool
	// known: it served as far as was known.
	known bool
	// leaves is since when traffic leaves it, left when its name has lost it. stopped: its Instances have stopped for that.
	leaves, left time.Time
	stopped      bool
	// others: the Workload had other cities then.
	others bool
	// excused: since none served, it has ceased to serve while another city did, or enough others have served.
	excused bool
}

// serves reports whether clients reach the city.
func (c *city) serves() bool { return c.runs && c.reachable }

// world is a Workload with a name.
type world struct {
	*rand.Rand
	broken   string
	settings *Settings
	now      time.Time
	cities   []*city
	created  int
	answer   []string
	// asks: a party asks addresses; blind: it reaches none. heard: the hub hears from a cell.
	asks, blind bool
	// outage is until when the hub stores nothing.
	outage time.Time
	// empty is the answer of the last moment without a city that serves, and first when a city served after it.
	empty []string
	first time.Time
	done  *explored
}

// explore runs a world until it has a fault or all steps are done.
func explore(seed uint64, broken string, done *explored) error {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 52)), broken: broken, settings: defaults(), now: testBegin, done: done,
	}
	w.asks = w.IntN(2) == 0
	for range 1 + w.IntN(6) {
		w.add()
	}
	for n := range modelSteps {
		w.now = w.now.Add(time.Duration(1+w.IntN(15)) * time.Second)
		w.happen()
		w.observe()
		if err := w.reconcile(); err != nil {
			return fmt.Errorf("seed %d, step %d: %w: %s", seed, n, err, w.dump())
		}
	}
	if err := w.end(); err != nil {
		return fmt.Errorf("seed %d at the end: %w: %s", seed, err, w.dump())
	}
	return nil
}

func (w *world) add() {
	w.created++
	w.cities = append(w.cities, &city{
		fact: fact{city: fmt.Sprintf("C%d", w.created), said: saysDown, since: w.now, addressed: true},
		runs: true, contact: true, reachable: true,
	})
}

// happen changes something: of one city, or of all at once.
func (w *world) happen() {
	each, chance := w.cities, w.IntN(100)
	if w.IntN(3) > 0 {
		each = []*city{w.cities[w.IntN(len(w.cities))]}
	}
	for _, c := range each {
		w.befall(c, chance)
	}
	switch c := w.cities[w.IntN(len(w.cities))]; {
	case chance < 90:
	case chance < 93 && c.leaves.IsZero():
		c.leaves = w.now
	case chance < 95 && len(w.cities) < 7:
		w.add()
	case chance < 97:
		w.blind = !w.blind
	case chance < 98 && c.leaves.IsZero():
		// The status of its deployment is lost.
		c.said, c.since, c.addressed = saysNothing, time.Time{}, false
	}
}

// befall changes a city. They return at different times.
func (w *world) befall(c *city, chance int) {
	switch {
	case chance < 8:
		c.runs = false
	case chance < 40:
		c.runs = c.runs || !c.stopped && w.IntN(2) == 0
	case chance < 46:
		c.contact = false
	case chance < 62:
		c.contact = c.contact || w.IntN(2) == 0
	case chance < 65:
		c.reachable = false
	case chance < 80:
		c.reachable = true
	}
}

// observe lets the hub learn what its cells say and what addresses show, and the plan stop Instances.
func (w *world) observe() {
	w.stop()
	heard := slices.ContainsFunc(w.cities, func(c *city) bool { return c.contact })
	for _, c := range w.cities {
		if !c.addressed && w.IntN(3) == 0 {
			// It looks as if the city had ceased to serve now.
			c.addressed, c.since, c.excused = true, w.now, true
		}
		c.said = c.says(heard)
		switch c.shown = ""; {
		case w.asks && c.reachable && !w.blind:
			c.shown = answers
		case w.asks:
			c.shown = unreachable
		}
		before := c.known
		if c.known = w.known(c); c.known != before {
			c.since, c.excused = w.now, c.excused || before
		}
	}
	switch isKnown := slices.ContainsFunc(w.cities, w.known); {
	case !isKnown:
		w.done.empty++
		w.empty, w.first = slices.Clone(w.answer), time.Time{}
		for _, c := range w.cities {
			c.excused = false
		}
	case w.first.IsZero():
		w.first = w.now
	}
}

// says returns the last statement of a city that the hub has. While it hears from no cell, it has the earlier one.
func (c *city) says(heard bool) said {
	switch {
	case !c.leaves.IsZero():
		return saysLeaving
	case !c.addressed:
		return saysNothing
	case c.contact && c.runs:
		return saysServing
	case c.contact:
		return saysDown
	case heard:
		return saysNothing
	}
	return c.said
}

// known reports whether a city serves as far as is known.
func (w *world) known(c *city) bool {
	return c.addressed && (c.said == saysServing && c.shown != unreachable ||
		c.said == saysNothing && c.shown == answers && slices.Contains(w.answer, c.city))
}

// others are the other cities that traffic does not leave.
func (w *world) others(of *city) int {
	count := 0
	for _, c := range w.cities {
		if c != of && c.leaves.IsZero() && c.addressed {
			count++
		}
	}
	return count
}

// stop stops the Instances of cities that traffic has left, as hub/deployments/plan does, and later removes the cities.
func (w *world) stop() {
	for _, c := range w.cities {
		if c.leaves.IsZero() || c.stopped {
			continue
		}
		isFree := w.others(c) == 0
		if mistakes[w.broken].hurries {
			isFree = !slices.ContainsFunc(w.cities, func(other *city) bool { return other != c && w.known(other) })
		}
		if c.left.IsZero() && (isFree || !w.has(c)) {
			c.left, c.others = w.now, w.others(c) > 0
		}
		end := c.leaves.Add(max(modelDrain, namesPatience))
		if !c.left.IsZero() {
			end = c.left.Add(modelDrain)
		}
		if !w.now.Before(end) {
			c.runs, c.stopped = false, true
			w.done.stops++
		}
	}
	w.cities = slices.DeleteFunc(w.cities, func(c *city) bool { return c.stopped && w.others(c) > 0 && w.IntN(4) == 0 })
}

// reconcile decides and stores the answer, unless the controller is late or the hub stores nothing: for 90 seconds at most.
func (w *world) reconcile() error {
	if w.now.After(w.outage) && w.IntN(20) == 0 {
		w.outage = w.now.Add(time.Duration(w.IntN(90)) * time.Second)
	}
	if w.now.Before(w.outage) {
		return w.checkStopped(func(c *city) bool { return c.others })
	}
	facts := make([]fact, 0, len(w.cities))
	for _, c := range w.cities {
		facts = append(facts, c.fact)
	}
	former := w.answer
	if decided := w.decide(facts); len(decided) > 0 {
		w.answer = decided
	}
	return w.check(former)
}

func (w *world) has(c *city) bool { return slices.Contains(w.answer, c.city) }

// count counts cities, of the answer or of the others.
func (w *world) count(isIn bool, isCounted func(*city) bool) int {
	count := 0
	for _, c := range w.cities {
		if w.has(c) == isIn && isCounted(c) {
			count++
		}
	}
	return count
}

// check returns the fault of the stored answer.
func (w *world) check(former []string) error {
	if len(w.answer) == 0 {
		return nil
	}
	switch {
	case w.isDead():
		return fmt.Errorf("a name without a city that serves")
	case w.isHerd():
		return fmt.Errorf("a name of one city because it was faster")
	}
	if err := w.checkStopped(func(c *city) bool { return w.others(c) > 0 }); err != nil {
		return err
	}
	isGone := func(c *city) bool { return c.isDoubtful() && slices.Contains(former, c.city) }
	isSilent := func(c *city) bool { return c.addressed && c.said == saysNothing && c.shown != unreachable }
	left, silent := w.count(false, func(c *city) bool { return isGone(c) && isSilent(c) }), w.count(false, isSilent)
	if left > 0 && silent > max(1, len(w.cities)/3) {
		return fmt.Errorf("a name that has lost %d of %d cities to silence", silent, len(w.cities))
	}
	if gone := w.count(false, isGone); w.isTooFew(gone) {
		return fmt.Errorf("a name that has lost %d cities and has %d", gone, len(w.answer))
	}
	return nil
}

// checkStopped returns the fault of an answer that has stopped Instances although there are others.
func (w *world) checkStopped(hasOthers func(*city) bool) error {
	if w.count(true, func(c *city) bool { return c.stopped && hasOthers(c) }) > 0 {
		return fmt.Errorf("a stopped Instance in a name after drainSeconds")
	}
	return nil
}

// isTooFew reports whether the answer is below the threshold because it lacks some cities.
func (w *world) isTooFew(lacking int) bool {
	return len(w.answer)*100 < (len(w.answer)+lacking)*w.settings.PanicThreshold
}

// isDead reports whether the answer has no city that serves although one is known to, or although no cell has said about a
// city that it does not serve, while the ones of the answer have been known not to serve for the patience.
func (w *world) isDead() bool {
	if slices.ContainsFunc(w.cities, w.known) {
		return w.count(true, w.known) == 0
	}
	mayServe := func(c *city) bool { return c.isDoubtful() || w.now.Sub(c.since) < patience }
	return w.count(true, mayServe) == 0 && w.count(false, func(c *city) bool {
		return c.serves() && c.addressed && c.isDoubtful() && c.leaves.IsZero()
	}) > 0
}

// isHerd reports whether the answer lacks cities of the last answer without a city that served, only because others were faster.
func (w *world) isHerd() bool {
	isLost := func(c *city) bool {
		return slices.Contains(w.empty, c.city) && !c.excused && c.leaves.IsZero() && !w.known(c)
	}
	lost, serving := w.count(false, isLost), w.count(true, w.known)
	if serving > 1 && serving*100 >= (serving+lost)*w.settings.PanicThreshold {
		for _, c := range w.cities {
			c.excused = c.excused || !w.has(c) && isLost(c)
		}
		return false
	}
	return serving > 0 && w.now.Sub(w.first) < patience && lost > 0 && (len(w.answer) == 1 || w.isTooFew(lost))
}

// end lets all parties hear and see again. The name must then have the cities that serve, and no others.
func (w *world) end() error {
	w.blind, w.outage = false, w.now
	for _, c := range w.cities {
		c.contact, c.reachable = true, true
	}
	for range 40 {
		w.now = w.now.Add(10 * time.Second)
		w.observe()
		if err := w.reconcile(); err != nil {
			return err
		}
	}
	for _, c := range w.cities {
		if serves := c.serves(); slices.ContainsFunc(w.cities, w.known) && serves != w.has(c) {
			return fmt.Errorf("%s serves: %t, and is in the name: %t", c.city, serves, w.has(c))
		}
	}
	return nil
}

func (w *world) dump() string {
	text := fmt.Sprintf("%v", w.answer)
	for _, c := range w.cities {
		text += fmt.Sprintf("\n%s says %q, shows %q since %s; runs %t, contact %t, reachable %t, leaves %t, stopped %t", c.city, c.said, c.shown,
			w.now.Sub(c.since), c.runs, c.contact, c.reachable, !c.leaves.IsZero(), c.stopped)
	}
	return text
}
