// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"cmp"
	"slices"
	"time"
)

// patience is how long the cities of a name that served before no city did stay in it: from when the first city serves again.
const patience = time.Minute

// said is the last statement of the cells of a city.
type said string

const (
	saysServing said = "serves"
	saysDown    said = "does not serve"
	// saysLeaving: its Instances stop when drainSeconds have passed.
	saysLeaving said = "traffic leaves it"
	saysNothing said = "the hub does not hear from its cells"
)

// shown is the result of asking the addresses of a city. It is empty where no party has asked them.
type shown string

const (
	answers     shown = "its addresses answer"
	unreachable shown = "its addresses do not answer"
)

// fact holds the knowledge of a city of a name.
type fact struct {
	city  string
	said  said
	shown shown
	// since is when the city began to serve, or ceased to.
	since time.Time
	// addressed: an address of the city is known.
	addressed bool
}

// place is whether a name has the addresses of a city. In doubt, it has them although the city is not known to serve.
type place string

const (
	placeIn    place = "in"
	placeDoubt place = "doubt"
	placeOut   place = "out"
)

const (
	whyReturning = "it has not served for long enough"
	whyHeld      = "it ceased before the other cities served, and may return with them"
	whyNone      = "no city serves"
)

// verdict is the place of a city and why it has it.
type verdict struct {
	city  string
	place place
	why   string
}

// decision is the answer of a name: a verdict for each city, in the order of the facts. serves: a city of it serves. wait is when
// to ask again; 0: at the next change.
type decision struct {
	*Settings
	facts    []fact
	before   []string
	now      time.Time
	verdicts []verdict
	serves   bool
	wait     time.Duration
	// first is since when the first city of the ones that serve does. last is when the last city of the answer ceased to that may
	// return.
	first, last time.Time
}

// decide returns the answer of a name by the facts of its cities, the cities that it had, and the time. A city leaves for a reason that
// its cells have said, or that was seen at its addresses. Silence alone, and the speed at which cities return, are bounded.
// It has no other memory: every replica decides the same.
func (o *Settings) decide(facts []fact, before []string, now time.Time) *decision {
	d := &decision{Settings: o, facts: facts, before: before, now: now, verdicts: make([]verdict, len(facts))}
	d.findTimes()
	for i := range facts {
		d.verdicts[i] = d.judge(&facts[i])
	}
	d.hold()
	d.bound()
	d.neverEmpty()
	return d
}

func (d *decision) had(city string) bool { return slices.Contains(d.before, city) }

// isServing reports whether a city serves: its cells have said so and its addresses show nothing else, or they answer while the hub does
// not hear from its cells.
func (d *decision) isServing(f *fact) bool {
	return f.addressed && (f.said == saysServing && f.shown != unreachable || f.said == saysNothing && f.shown == answers && d.had(f.city))
}

// isDoubtful reports whether no cell has said that a city does not serve.
func (f *fact) isDoubtful() bool {
	return f.said == saysNothing || f.said == saysServing && f.shown == unreachable
}

// began is since when a city serves. A city that the hub does not hear from, and whose addresses answer, counts from then on: they may
// have answered while it did not serve.
func (d *decision) began(f *fact) time.Time {
	if f.since.After(d.now) {
		return d.now
	}
	return f.since
}

func (d *decision) findTimes() {
	for i := range d.facts {
		f := &d.facts[i]
		if d.isServing(f) && (!d.serves || d.began(f).Before(d.first)) {
			d.serves, d.first = true, d.began(f)
		}
		if d.had(f.city) && f.said != saysLeaving && f.since.After(d.last) {
			d.last = f.since
		}
	}
}

func (d *decision) askAfter(wait time.Duration) {
	if wait > 0 && (d.wait == 0 || wait < d.wait) {
		d.wait = wait
	}
}

// judge decides about a city alone. While no city serves, the answer keeps its cities.
func (d *decision) judge(f *fact) verdict {
	switch {
	case f.said == saysLeaving:
	case d.isServing(f):
		return d.judgeServing(f)
	case !d.serves && (d.had(f.city) || d.returnsUnheard(f)):
		return verdict{f.city, placeDoubt, whyNone}
	case d.had(f.city) && f.isDoubtful():
		return verdict{f.city, placeDoubt, f.why()}
	}
	return verdict{f.city, placeOut, f.why()}
}

func (f *fact) why() string {
	if f.said == saysServing {
		return string(unreachable)
	}
	return string(f.said)
}

// judgeServing decides about a city that serves. It returns when it has served for ReturnAfter, or has begun so shortly after the first
// one: none is better because it was faster.
func (d *decision) judgeServing(f *fact) verdict {
	remaining := d.began(f).Add(d.ReturnAfter).Sub(d.now)
	if !d.had(f.city) && remaining > 0 && d.began(f).After(d.first.Add(d.ReturnAfter)) {
		d.askAfter(remaining)
		return verdict{f.city, placeOut, whyReturning}
	}
	return verdict{f.city, placeIn, string(f.said)}
}

// returnsUnheard reports whether a city that only silence has taken out returns: the cities of the answer have been known not to serve for
// the patience.
func (d *decision) returnsUnheard(f *fact) bool {
	if !f.isDoubtful() || !f.addressed || len(d.before) == 0 {
		return false
	}
	remaining := d.last.Add(patience).Sub(d.now)
	d.askAfter(min(remaining, patience))
	return remaining <= 0
}

// count counts the cities with a verdict.
func (d *decision) count(isCounted func(i int) bool) int {
	count := 0
	for i := range d.verdicts {
		if isCounted(i) {
			count++
		}
	}
	return count
}

// least is how many of these cities stay at least, by the threshold of the operator.
func (d *decision) least(cities int) int { return (cities*d.PanicThreshold + 99) / 100 }

// hold keeps the cities that ceased before the first of the others served: no city served at that moment. They stay until the
// patience has passed. The ones whose cells say that they do not serve leave when enough cities serve, and more than one.
func (d *decision) hold() {
	isHeld := func(i int) bool {
		f := &d.facts[i]
		return d.serves && d.had(f.city) && d.verdicts[i].place != placeIn && f.said != saysLeaving && !f.since.After(d.first)
	}
	serving := d.count(func(i int) bool { return d.verdicts[i].place == placeIn })
	cities, remaining := serving+d.count(isHeld), d.first.Add(patience).Sub(d.now)
	isEnough := serving >= max(min(2, cities), d.least(cities))
	for i := range d.facts {
		if remaining > 0 && isHeld(i) && (!isEnough || d.facts[i].isDoubtful()) {
			d.verdicts[i].place, d.verdicts[i].why = placeDoubt, whyHeld
			d.askAfter(remaining)
		}
	}
}

// bound lets cities in doubt leave: the ones whose addresses do not answer first, then the longest silence. No more than SilentShare of all
// cities leave for silence alone, though one may, and the answer never shrinks below the threshold of the cities that are not known
// to be down. The ones that have left already count.
func (d *decision) bound() {
	if !d.serves {
		return
	}
	isLeft := func(i int) bool {
		f := &d.facts[i]
		return f.isDoubtful() && f.addressed && !d.had(f.city) && !d.isServing(f)
	}
	isSilent := func(i int) bool { return d.facts[i].said == saysNothing && d.facts[i].shown != unreachable }
	size := d.count(func(i int) bool { return d.verdicts[i].place != placeOut })
	least := d.least(size + d.count(isLeft))
	share := len(d.facts) * d.SilentShare / 100
	if d.SilentShare > 0 {
		share = max(1, share)
	}
	share -= d.count(func(i int) bool { return isLeft(i) && isSilent(i) })
	for _, i := range d.doubtful() {
		if size <= least || isSilent(i) && share <= 0 {
			continue
		}
		d.verdicts[i].place = placeOut
		size--
		if isSilent(i) {
			share--
		}
	}
}

// doubtful are the cities in doubt that may leave, the first to leave first. A city without any report has no time of silence.
func (d *decision) doubtful() []int {
	var result []int
	for i := range d.verdicts {
		if d.verdicts[i].place == placeDoubt && d.verdicts[i].why != whyHeld && d.facts[i].addressed {
			result = append(result, i)
		}
	}
	seen := func(i int) int {
		if d.facts[i].shown == unreachable {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(result, func(a, b int) int {
		return cmp.Or(cmp.Compare(seen(a), seen(b)), d.facts[a].since.Compare(d.facts[b].since))
	})
	return result
}

// neverEmpty keeps an answer from being empty. Instances of a city that leaves will stop, so that any other city with an address is
// better.
func (d *decision) neverEmpty() {
	for _, mayStay := range []func(f *fact) bool{
		func(f *fact) bool { return f.said != saysLeaving && f.addressed },
		func(f *fact) bool { return d.had(f.city) },
	} {
		if len(d.before) == 0 || len(d.cities()) > 0 {
			return
		}
		for i := range d.facts {
			if mayStay(&d.facts[i]) {
				d.verdicts[i].place, d.verdicts[i].why = placeDoubt, whyNone
			}
		}
	}
}

// cities are the cities of the answer.
func (d *decision) cities() []string {
	var result []string
	for _, v := range d.verdicts {
		if v.place != placeOut {
			result = append(result, v.city)
		}
	}
	return result
}

// isUnchanged reports whether no city enters or leaves the answer.
func (d *decision) isUnchanged() bool {
	return slices.Equal(slices.Sorted(slices.Values(d.cities())), slices.Sorted(slices.Values(d.before)))
}
