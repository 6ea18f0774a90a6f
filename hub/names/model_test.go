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

// TestModelFindsMistakes: each rule matters.
func TestModelFindsMistakes(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{
		"the first that returns is the whole answer", "the last answer is forgotten", "silence takes all", "silence is evidence",
		"the ones that have left do not count", "no threshold", "a city that leaves stays with the others",
		"each city that returns waits", "only cities of the answer stay while none serves", "the patience does not end",
		"a drain does not wait while no city serves", "a city that leaves stays until another one serves",
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(modelSeeds) {
				if err := explore(seed, mistake, &explored{}); err != nil {
					t.Log(err)
					return
				}
			}
			t.Error("the model does not find it")
		})
	}
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
	// nextTry is when a name that was not written is tried again at the latest.
	nextTry time.Time
	// empty is the answer of the last moment without a city that serves, and first when a city served after it.
	empty []string
	first time.Time
	done  *explored
}

// explore runs a world until it has a fault or all steps are done.
func explore(seed uint64, broken string, done *explored) error {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 52)), broken: broken, settings: defaults(), now: testBegin, done: done, //nolint:gosec // A model.
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
		switch {
		case chance < 8:
			c.runs = false
		case chance < 40:
			// They return at different times.
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

// observe lets the hub learn what its cells say and what addresses show, and the plan stop Instances.
func (w *world) observe() {
	w.stop()
	heard := slices.ContainsFunc(w.cities, func(c *city) bool { return c.contact })
	for _, c := range w.cities {
		before := c.known
		if !c.addressed && w.IntN(3) == 0 {
			// It looks as if the city had ceased to serve now.
			c.addressed, c.since, c.excused = true, w.now, true
		}
		switch {
		case !c.addressed && c.leaves.IsZero():
			c.said = saysNothing
		case !c.leaves.IsZero():
			c.said = saysLeaving
		case c.contact && c.runs:
			c.said = saysServing
		case c.contact:
			c.said = saysDown
		case heard:
			c.said = saysNothing
		}
		switch c.shown = ""; {
		case w.asks && c.reachable && !w.blind:
			c.shown = answers
		case w.asks:
			c.shown = unreachable
		}
		if c.known = w.known(c); c.known != before {
			c.since = w.now
			c.excused = c.excused || before
		}
	}
	serving := slices.ContainsFunc(w.cities, w.known)
	switch {
	case !serving:
		w.done.empty++
		w.empty, w.first = slices.Clone(w.answer), time.Time{}
		for _, c := range w.cities {
			c.excused = false
		}
	case w.first.IsZero():
		w.first = w.now
	}
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
		if w.broken == "a drain does not wait while no city serves" {
			isFree = !slices.ContainsFunc(w.cities, func(other *city) bool { return other != c && w.known(other) })
		}
		if c.left.IsZero() && (isFree || !slices.Contains(w.answer, c.city)) {
			c.left = w.now
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

// reconcile decides and stores the answer, unless the controller is late or the write fails: for at most half a minute.
func (w *world) reconcile() error {
	if w.nextTry.IsZero() {
		w.nextTry = w.now.Add(30 * time.Second)
	}
	if w.now.Before(w.nextTry) && w.IntN(3) == 0 {
		return nil
	}
	w.nextTry = time.Time{}
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

// decide is the decision, or the one of a hub with a mistake.
func (w *world) decide(facts []fact) []string {
	settings, before := *w.settings, w.answer
	switch w.broken {
	case "the last answer is forgotten":
		before = nil
	case "silence takes all":
		settings.SilentShare, settings.PanicThreshold = 100, 1
	case "no threshold":
		settings.PanicThreshold = 1
	case "the ones that have left do not count":
		facts = slices.DeleteFunc(facts, func(f fact) bool { return f.said == saysNothing && !slices.Contains(before, f.city) })
	}
	for i := range facts {
		f := &facts[i]
		switch serves := f.said == saysServing && f.shown != unreachable; {
		case w.broken == "the first that returns is the whole answer" && !serves:
			f.since = w.now.Add(time.Hour)
		case w.broken == "silence is evidence" && f.said == saysNothing && f.shown != answers,
			w.broken == "a city that leaves stays with the others" && f.said == saysLeaving:
			f.said = saysDown
		case w.broken == "the patience does not end" && serves:
			f.since = w.now
		case w.broken == "a city that leaves stays until another one serves" && f.said == saysLeaving &&
			!slices.ContainsFunc(w.cities, w.known):
			f.said = saysDown
		}
	}
	decided := settings.decide(facts, before, w.now)
	for _, v := range decided.verdicts {
		if v.why == whyHeld {
			w.done.held++
		} else if v.place == placeDoubt {
			w.done.doubts++
		}
	}
	return slices.DeleteFunc(decided.cities(), func(name string) bool {
		i := slices.IndexFunc(facts, func(f fact) bool { return f.city == name })
		isNew := !slices.Contains(before, name)
		return w.broken == "each city that returns waits" && isNew && w.now.Sub(facts[i].since) < settings.ReturnAfter ||
			w.broken == "only cities of the answer stay while none serves" && isNew && !decided.serves
	})
}

func (w *world) has(c *city) bool { return slices.Contains(w.answer, c.city) }

// check returns the fault of the stored answer.
func (w *world) check(former []string) error {
	inName := func(of func(*city) bool) bool {
		return slices.ContainsFunc(w.cities, func(c *city) bool { return w.has(c) && of(c) })
	}
	count := func(of func(*city) bool) int {
		return len(slices.DeleteFunc(slices.Clone(w.cities), func(c *city) bool { return !of(c) }))
	}
	isKnown := slices.ContainsFunc(w.cities, w.known)
	// Silent cities that serve return once the others have been known to be down for the patience.
	isHopeless := !isKnown && !inName(func(c *city) bool { return c.fact.isDoubtful() || w.now.Sub(c.since) < patience })
	missed := func(c *city) bool { return c.serves() && c.addressed && c.fact.isDoubtful() && c.leaves.IsZero() }
	switch {
	case len(w.answer) > 0 && isKnown && !inName(w.known),
		len(w.answer) > 0 && isHopeless && slices.ContainsFunc(w.cities, missed):
		return fmt.Errorf("a name without a city that serves")
	case inName(func(c *city) bool { return c.stopped && w.others(c) > 0 }):
		return fmt.Errorf("a stopped Instance in a name after drainSeconds")
	}
	isLost := func(c *city) bool {
		return slices.Contains(w.empty, c.city) && !w.has(c) && !c.excused && c.leaves.IsZero() && !w.known(c)
	}
	waits, least := count(isLost), w.settings.PanicThreshold
	if serving := count(func(c *city) bool { return w.has(c) && w.known(c) }); serving > 1 && serving*100 >= (serving+waits)*least {
		for _, c := range w.cities {
			c.excused = c.excused || isLost(c)
		}
		waits = 0
	}
	if isKnown && w.now.Sub(w.first) < patience && waits > 0 && (len(w.answer) == 1 || len(w.answer)*100 < (len(w.answer)+waits)*least) {
		return fmt.Errorf("a name of one city because it was faster")
	}
	isGone := func(c *city) bool { return !w.has(c) && c.fact.isDoubtful() && slices.Contains(former, c.city) }
	gone, isSilent := count(isGone), func(c *city) bool { return !w.has(c) && c.addressed && c.said == saysNothing && c.shown != unreachable }
	if count(func(c *city) bool { return isGone(c) && isSilent(c) }) > 0 && count(isSilent) > max(1, len(w.cities)/3) {
		return fmt.Errorf("a name that has lost %d of %d cities to silence", count(isSilent), len(w.cities))
	}
	if len(w.answer)*100 < (len(w.answer)+gone)*least {
		return fmt.Errorf("a name that has lost %d cities and has %d", gone, len(w.answer))
	}
	return nil
}

// end lets all parties hear and see again. The name must then have the cities that serve, and no others.
func (w *world) end() error {
	w.blind = false
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
		text += fmt.Sprintf("\n%s says %q, shows %q since %s; runs %t, contact %t, reachable %t, leaves %t, stopped %t, excused %t", c.city, c.said, c.shown,
			w.now.Sub(c.since), c.runs, c.contact, c.reachable, !c.leaves.IsZero(), c.stopped, c.excused)
	}
	return text
}
