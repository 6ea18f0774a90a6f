// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"slices"
	"testing"
	"time"
)

// mistake is a fault of a hub.
type mistake struct {
	settings func(*Settings)
	fact     func(w *world, f *fact)
	forgets  bool
	// bars: a city that is new in the answer is not in it.
	bars func(d *decision, f *fact) bool
	// hurries: a drain waits for names only while another city serves.
	hurries bool
}

func serves(f *fact) bool { return f.said == saysServing && f.shown != unreachable }

// mistakes are the mistakes that the model must find.
var mistakes = map[string]mistake{
	"the first that returns is the whole answer": {fact: func(w *world, f *fact) {
		if !serves(f) {
			f.since = w.now.Add(time.Hour)
		}
	}},
	"the last answer is forgotten": {forgets: true},
	"silence takes all":            {settings: func(s *Settings) { s.SilentShare, s.PanicThreshold = 100, 1 }},
	"no threshold":                 {settings: func(s *Settings) { s.PanicThreshold = 1 }},
	"silence is evidence": {fact: func(_ *world, f *fact) {
		if f.said == saysNothing && f.shown != answers {
			f.said = saysDown
		}
	}},
	"the ones that have left do not count": {fact: func(w *world, f *fact) {
		f.addressed = f.addressed && (serves(f) || slices.Contains(w.answer, f.city))
	}},
	"a city that leaves stays with the others": {fact: func(_ *world, f *fact) {
		if f.said == saysLeaving {
			f.said = saysDown
		}
	}},
	"a city that leaves stays until another one serves": {fact: func(w *world, f *fact) {
		if f.said == saysLeaving && !slices.ContainsFunc(w.cities, w.known) {
			f.said = saysDown
		}
	}},
	"each city that returns waits":                     {bars: func(d *decision, f *fact) bool { return d.now.Sub(f.since) < d.ReturnAfter }},
	"only cities of the answer stay while none serves": {bars: func(d *decision, _ *fact) bool { return !d.serves }},
	"the patience does not end": {fact: func(w *world, f *fact) {
		if serves(f) {
			f.since = w.now
		}
	}},
	"a drain does not wait while no city serves": {hurries: true},
}

// TestModelFindsMistakes: each rule matters.
func TestModelFindsMistakes(t *testing.T) {
	t.Parallel()
	for mistake := range mistakes {
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

// decide is the decision, or the one of a hub with a mistake.
func (w *world) decide(facts []fact) []string {
	settings, before, wrong := *w.settings, w.answer, mistakes[w.broken]
	if wrong.settings != nil {
		wrong.settings(&settings)
	}
	if wrong.forgets {
		before = nil
	}
	for i := range facts {
		if wrong.fact != nil {
			wrong.fact(w, &facts[i])
		}
	}
	decided := settings.decide(facts, before, w.now)
	for i := range decided.verdicts {
		v := &decided.verdicts[i]
		if v.why == whyHeld {
			w.done.held++
		} else if v.place == placeDoubt {
			w.done.doubts++
		}
		if wrong.bars != nil && !slices.Contains(before, v.city) && wrong.bars(decided, &facts[i]) {
			v.place = placeOut
		}
	}
	return decided.cities()
}
