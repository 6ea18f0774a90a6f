// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const (
	lifetime = 24 * time.Hour
	learning = time.Minute
	delay    = 5 * time.Minute
	spacing  = 30 * time.Minute
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// words is a kind whose items are words. Words that begin with "-" have expired.
type words struct {
	lifetime time.Duration
	// made and err are New's results.
	made string
	err  error
}

func (w words) New(time.Time) (*string, error) { return &w.made, w.err }

func (w words) Due(_ *string, since, now time.Time) bool {
	return w.lifetime > 0 && !now.Before(since.Add(w.lifetime))
}

func (words) Expired(word *string, _ time.Time) bool { return strings.HasPrefix(*word, "-") }

func (words) Former(word *string) *string { return word }

func (words) Decode(data map[string][]byte, role Role) (*string, error) {
	content, ok := data[string(role)]
	if !ok {
		return nil, nil
	}
	if len(content) == 0 {
		return nil, errors.New(string(role) + " is empty")
	}
	word := string(content)
	return &word, nil
}

func (words) Encode(word *string, data map[string][]byte, role Role) error {
	delete(data, string(role))
	if word != nil {
		data[string(role)] = []byte(*word)
	}
	return nil
}

// a, b and c are items, made is the created item, and gone has expired.
var a, b, c, made, gone = new("a"), new("b"), new("c"), new("made"), new("-")

func wordPolicy(ahead bool) Policy[string] {
	return Policy[string]{
		Kind:   words{lifetime: lifetime, made: *made},
		Phases: Phases{Ahead: ahead, Delay: delay, Settle: learning, Spacing: spacing},
	}
}

// content is a state with its items in place of the pointers.
type content struct {
	items [3]string
	rest  State[string]
}

func contentOf(s State[string]) content {
	c := content{rest: s}
	for i, item := range []*string{s.Current, s.Next, s.Previous} {
		if item != nil {
			c.items[i] = *item
		}
	}
	c.rest.Current, c.rest.Next, c.rest.Previous = nil, nil, nil
	return c
}

// TestAdvance of a kind that callers use as soon as they know it. The other one is tested with CAs.
func TestAdvance(t *testing.T) {
	p := wordPolicy(false)
	manual := p
	manual.Kind = words{made: *made}
	old, young := epoch.Add(-lifetime), epoch.Add(1-spacing)
	for name, test := range map[string]struct {
		policy Policy[string]
		state  State[string]
		has    Registered
		want   State[string]
		does   string
		cause  string
	}{
		"nothing there": {p, State[string]{}, 0, State[string]{Current: made, CurrentSince: epoch}, "created the first", ""},
		"young": {
			p,
			State[string]{Current: a, CurrentSince: epoch.Add(1 - lifetime)},
			0,
			State[string]{Current: a, CurrentSince: epoch.Add(1 - lifetime)},
			"", "",
		},
		"of unknown age": {p, State[string]{Current: a}, 0, State[string]{Current: a, CurrentSince: epoch}, "age", ""},
		"old": {
			p,
			State[string]{Current: a, CurrentSince: old},
			0,
			State[string]{Current: a, CurrentSince: old, Next: made, NextSince: epoch},
			"created the next", CauseDue,
		},
		"old, and replaced on request only": {
			manual, State[string]{Current: a, CurrentSince: old}, 0, State[string]{Current: a, CurrentSince: old}, "", "",
		},
		"requested": {
			manual,
			State[string]{Current: a, CurrentSince: young, Request: CauseRequested},
			0,
			State[string]{Current: a, CurrentSince: young, Next: made, NextSince: epoch},
			"created the next", CauseRequested,
		},
		"requested again": {
			p,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch, Request: CauseRequested},
			0,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch},
			"in progress", "",
		},
		"requested while the previous one leaves": {
			p,
			State[string]{Current: b, CurrentSince: young, Previous: a, Request: CauseRequested},
			RegisteredMissing,
			State[string]{Current: b, CurrentSince: young, Previous: a, Next: made, NextSince: epoch},
			"created the next", CauseRequested,
		},
		"exposed": {
			p,
			State[string]{Current: a, CurrentSince: epoch.Add(-spacing), Exposed: "left"},
			0,
			State[string]{Current: a, CurrentSince: epoch.Add(-spacing), Next: made, NextSince: epoch},
			"created the next", "left",
		},
		"exposed too early": {
			p,
			State[string]{Current: a, CurrentSince: young, Exposed: "left"},
			0,
			State[string]{Current: a, CurrentSince: young, Exposed: "left"},
			"", "",
		},
		"exposed while it is replaced": {
			p,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch, Exposed: "left"},
			0,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch},
			"in progress", "",
		},
		"replicas read the next one": {
			p,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch.Add(1 - learning)},
			RegisteredComplete,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch.Add(1 - learning)},
			"", "",
		},
		"the next one is of unknown age": {
			p,
			State[string]{Current: a, CurrentSince: old, Next: b},
			0,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch},
			"again", "",
		},
		"every replica has read it": {
			p,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch.Add(-learning)},
			0,
			State[string]{Current: b, CurrentSince: epoch, Previous: a},
			"promoted", "",
		},
		"every replica has read it, and an older one is accepted": {
			p,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch.Add(-learning), Previous: c},
			0,
			State[string]{Current: a, CurrentSince: old, Next: b, NextSince: epoch.Add(-learning), Previous: c},
			"", "",
		},
		"registered nowhere": {
			p,
			State[string]{Current: b, CurrentSince: young, Previous: a},
			RegisteredMissing,
			State[string]{Current: b, CurrentSince: young, Previous: a},
			"", "",
		},
		"unknown where it is registered": {
			p,
			State[string]{Current: b, CurrentSince: young, Previous: a, RegisteredSince: young},
			RegisteredUnknown,
			State[string]{Current: b, CurrentSince: young, Previous: a, RegisteredSince: young},
			"", "",
		},
		"registered everywhere": {
			p,
			State[string]{Current: b, CurrentSince: young, Previous: a},
			RegisteredComplete,
			State[string]{Current: b, CurrentSince: young, Previous: a, RegisteredSince: epoch},
			"every webhook configuration", "",
		},
		"a configuration was replaced": {
			p,
			State[string]{Current: b, CurrentSince: young, Previous: a, RegisteredSince: young},
			RegisteredMissing,
			State[string]{Current: b, CurrentSince: young, Previous: a},
			"no longer", "",
		},
		"API servers observe it": {
			p,
			State[string]{Current: b, CurrentSince: young, Previous: a, RegisteredSince: epoch.Add(1 - delay)},
			RegisteredComplete,
			State[string]{Current: b, CurrentSince: young, Previous: a, RegisteredSince: epoch.Add(1 - delay)},
			"", "",
		},
		"every API server has observed it, and a rotation is requested": {
			p,
			State[string]{Current: b, CurrentSince: young, Previous: a, RegisteredSince: epoch.Add(-delay), Request: CauseRequested},
			RegisteredComplete,
			State[string]{Current: b, CurrentSince: young, Request: CauseRequested},
			"deleted the previous", "",
		},
		"expired": {
			p, State[string]{Current: gone, CurrentSince: old}, 0, State[string]{Current: made, CurrentSince: epoch}, "at once", CauseExpired,
		},
	} {
		t.Run(name, func(t *testing.T) {
			after, step, err := test.policy.Advance(test.state, epoch, test.has)
			if err != nil || contentOf(after) != contentOf(test.want) || (step.Does == "") != (test.does == "") ||
				!strings.Contains(step.Does, test.does) || step.Cause != test.cause {
				t.Errorf("%+v, %v: %+v", step, err, contentOf(after))
			}
		})
	}
}

func TestStampNeverCutsADelayShort(t *testing.T) {
	if got := Stamp(epoch.Add(time.Nanosecond)); !got.Equal(epoch.Add(time.Second)) {
		t.Errorf("got %s", got)
	}
	if got := Stamp(epoch); !got.Equal(epoch) {
		t.Errorf("got %s", got)
	}
}
