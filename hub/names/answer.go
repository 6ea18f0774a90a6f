// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
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
	// beingAsked: a replica has just begun to ask, such as after an outage of the hub, and silence is no evidence until it has asked.
	beingAsked shown = "its addresses are being asked"
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
	*fact
	place place
	why   string
}

// decision is the answer of a name: a verdict for each city, in the order of the facts.
type decision struct {
	*Settings
	before   []string
	now      time.Time
	verdicts []verdict
	// serves: a city of the answer serves. wait is when to ask again; 0: at the next change.
	serves bool
	wait   time.Duration
	// first is since when the first of the cities that serve does, and last when the last city of the answer ceased to that may return.
	first, last time.Time
}

// decide returns the answer of a name by the facts of its cities, the cities that it had, and the time. A city leaves for a reason that
// its cells have said, or that was seen at its addresses. Silence alone, and the speed at which cities return, are bounded.
// It has no other memory: every replica decides the same.
func (o *Settings) decide(facts []fact, before []string, now time.Time) *decision {
	d := &decision{Settings: o, before: before, now: now}
	for i := range facts {
		f := &facts[i]
		d.verdicts = append(d.verdicts, verdict{fact: f})
		if d.isServing(f) && (!d.serves || d.began(f).Before(d.first)) {
			d.serves, d.first = true, d.began(f)
		}
		if d.had(f) && f.said != saysLeaving && f.since.After(d.last) {
			d.last = f.since
		}
	}
	for i := range d.verdicts {
		d.verdicts[i].place, d.verdicts[i].why = d.judge(&facts[i])
	}
	if d.serves {
		d.hold()
		d.bound()
	} else if len(before) > 0 {
		d.neverEmpty()
	}
	return d
}

func (d *decision) had(f *fact) bool { return slices.Contains(d.before, f.city) }

// isServing reports whether a city serves: its cells have said so and its addresses show nothing else, or they answer while the hub does
// not hear from its cells.
func (d *decision) isServing(f *fact) bool {
	return f.addressed && (f.said == saysServing && f.shown != unreachable || f.said == saysNothing && f.shown == answers && d.had(f))
}

// isDoubtful reports whether no cell has said that a city does not serve.
func (f *fact) isDoubtful() bool {
	return f.said == saysNothing || f.said == saysServing && f.shown == unreachable
}

// isSilent reports whether only silence speaks against a city.
func (f *fact) isSilent() bool { return f.said == saysNothing && f.shown != unreachable }

// began is since when a city serves. A city that the hub does not hear from, and whose addresses answer, counts from then on: they may
// have answered while it did not serve.
func (d *decision) began(f *fact) time.Time {
	if f.since.After(d.now) {
		return d.now
	}
	return f.since
}

// isOver reports whether a time has passed, and asks again when it has.
func (d *decision) isOver(end time.Time) bool {
	remaining := end.Sub(d.now)
	if remaining > 0 && (d.wait == 0 || remaining < d.wait) {
		d.wait = min(remaining, max(patience, d.ReturnAfter))
	}
	return remaining <= 0
}

// judge decides about a city alone. While no city serves, the answer keeps its cities.
func (d *decision) judge(f *fact) (place, string) {
	why := string(f.said)
	if f.said == saysServing && f.shown == unreachable {
		why = string(unreachable)
	}
	switch {
	case f.said == saysLeaving:
	case d.isServing(f) && !d.had(f) && !d.isProved(f):
		return placeOut, whyReturning
	case d.isServing(f):
		return placeIn, why
	case !d.serves && (d.had(f) || d.returnsUnheard(f)):
		return placeDoubt, whyNone
	case d.had(f) && f.isDoubtful():
		return placeDoubt, why
	}
	return placeOut, why
}

// isProved reports whether a city has served for ReturnAfter, or has begun so shortly after the first one: none is better because it was
// faster.
func (d *decision) isProved(f *fact) bool {
	return !d.began(f).After(d.first.Add(d.ReturnAfter)) || d.isOver(d.began(f).Add(d.ReturnAfter))
}

// returnsUnheard reports whether a city returns that only silence has taken out: the cities of the answer have been known not to serve for
// the patience.
func (d *decision) returnsUnheard(f *fact) bool {
	return len(d.before) > 0 && f.addressed && f.isDoubtful() && d.isOver(d.last.Add(patience))
}

// count counts cities.
func (d *decision) count(isCounted func(v *verdict) bool) int {
	count := 0
	for i := range d.verdicts {
		if isCounted(&d.verdicts[i]) {
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
	isHeld := func(v *verdict) bool {
		return d.had(v.fact) && v.place != placeIn && v.said != saysLeaving && !v.since.After(d.first)
	}
	serving := d.count(func(v *verdict) bool { return v.place == placeIn })
	cities := serving + d.count(isHeld)
	isEnough := serving >= max(min(2, cities), d.least(cities))
	for i := range d.verdicts {
		if v := &d.verdicts[i]; isHeld(v) && (!isEnough || v.isDoubtful()) && !d.isOver(d.first.Add(patience)) {
			v.place, v.why = placeDoubt, whyHeld
		}
	}
}

// bound lets cities in doubt leave. No more than SilentShare of all cities leave for silence alone, though one may, and the answer never
// shrinks below the threshold of the cities that are not known to be down. The ones that have left already count.
func (d *decision) bound() {
	isLeft := func(v *verdict) bool { return v.isDoubtful() && v.addressed && !d.had(v.fact) }
	size := d.count(func(v *verdict) bool { return v.place != placeOut })
	least, share := d.least(size+d.count(isLeft)), len(d.verdicts)*d.SilentShare/100
	if d.SilentShare > 0 {
		share = max(1, share)
	}
	silent := d.count(func(v *verdict) bool { return isLeft(v) && v.isSilent() })
	for _, v := range d.doubtful() {
		if size <= least || v.isSilent() && (silent >= share || v.shown == beingAsked) {
			continue
		}
		v.place = placeOut
		size--
		if v.isSilent() {
			silent++
		}
	}
}

// doubtful are the cities in doubt that may leave: the ones whose addresses do not answer first, then the longest silence. A city
// without any report has no time of silence.
func (d *decision) doubtful() []*verdict {
	var result []*verdict
	for i := range d.verdicts {
		if v := &d.verdicts[i]; v.place == placeDoubt && v.why != whyHeld && v.addressed {
			result = append(result, v)
		}
	}
	slices.SortStableFunc(result, func(a, b *verdict) int {
		switch {
		case a.isSilent() == b.isSilent():
			return a.since.Compare(b.since)
		case b.isSilent():
			return -1
		}
		return 1
	})
	return result
}

// neverEmpty keeps an answer from being empty. Instances of a city that leaves will stop, so that any other city with an address is
// better.
func (d *decision) neverEmpty() {
	for _, mayStay := range []func(f *fact) bool{func(f *fact) bool { return f.said != saysLeaving && f.addressed }, d.had} {
		if len(d.cities()) > 0 {
			return
		}
		for i := range d.verdicts {
			if v := &d.verdicts[i]; mayStay(v.fact) {
				v.place, v.why = placeDoubt, whyNone
			}
		}
	}
}

// cities are the cities of the answer, sorted.
func (d *decision) cities() []string {
	var result []string
	for _, v := range d.verdicts {
		if v.place != placeOut {
			result = append(result, v.city)
		}
	}
	slices.Sort(result)
	return result
}
