// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const (
	lifetime = 24 * time.Hour
	learning = time.Minute
	delay    = 5 * time.Minute
)

// made is the key that policies of tests make, a, b and c are others.
var made, a, b, c = testKey('m'), testKey('a'), testKey('b'), testKey('c')

func testKey(letter byte) key { return key(strings.Repeat(string(letter), keySize)) }

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestAdvance(t *testing.T) {
	p := policy{lifetime: lifetime, learning: learning, delay: delay, makeKey: func() (key, error) { return made, nil }}
	manual := p
	manual.lifetime = 0
	old := epoch.Add(-lifetime)
	for name, test := range map[string]struct {
		policy policy
		state  state
		has    carried
		want   state
		says   string
	}{
		"nothing there":                   {p, state{}, carriedUnknown, state{current: made, currentSince: epoch}, "first"},
		"young":                           {p, state{current: a, currentSince: epoch.Add(1 - lifetime)}, carriedUnknown, state{current: a, currentSince: epoch.Add(1 - lifetime)}, ""},
		"of unknown age":                  {p, state{current: a}, carriedUnknown, state{current: a, currentSince: epoch}, "age"},
		"old":                             {p, state{current: a, currentSince: old}, carriedUnknown, state{current: a, currentSince: old, next: made, nextSince: epoch}, "created the next"},
		"old, and nobody knows who calls": {manual, state{current: a, currentSince: old}, carriedUnknown, state{current: a, currentSince: old}, ""},
		"requested":                       {manual, state{current: a, currentSince: old, force: true}, carriedUnknown, state{current: a, currentSince: old, next: made, nextSince: epoch}, "created the next"},
		"requested again": {
			p,
			state{current: a, currentSince: old, next: b, nextSince: epoch, force: true},
			carriedUnknown,
			state{current: a, currentSince: old, next: b, nextSince: epoch},
			"in progress",
		},
		"replicas read the next key": {
			p,
			state{current: a, currentSince: old, next: b, nextSince: epoch.Add(1 - learning)},
			carriedComplete,
			state{current: a, currentSince: old, next: b, nextSince: epoch.Add(1 - learning)},
			"",
		},
		"the next key is of unknown age": {
			p, state{current: a, currentSince: old, next: b}, carriedUnknown, state{current: a, currentSince: old, next: b, nextSince: epoch}, "again",
		},
		"every replica has read it": {
			p,
			state{current: a, currentSince: old, next: b, nextSince: epoch.Add(-learning)},
			carriedUnknown,
			state{current: b, currentSince: epoch, previous: a},
			"promoted",
		},
		"registered nowhere": {
			p, state{current: b, currentSince: old, previous: a}, carriedMissing, state{current: b, currentSince: old, previous: a}, "",
		},
		"unknown where it is registered": {
			p,
			state{current: b, currentSince: old, previous: a, carriedSince: old},
			carriedUnknown,
			state{current: b, currentSince: old, previous: a, carriedSince: old},
			"",
		},
		"registered everywhere": {
			p,
			state{current: b, currentSince: old, previous: a},
			carriedComplete,
			state{current: b, currentSince: old, previous: a, carriedSince: epoch},
			"registered everywhere",
		},
		"a configuration was replaced": {
			p,
			state{current: b, currentSince: old, previous: a, carriedSince: old},
			carriedMissing,
			state{current: b, currentSince: old, previous: a},
			"no longer",
		},
		"API servers observe it": {
			p,
			state{current: b, currentSince: old, previous: a, carriedSince: epoch.Add(1 - delay)},
			carriedComplete,
			state{current: b, currentSince: old, previous: a, carriedSince: epoch.Add(1 - delay)},
			"",
		},
		"every API server has observed it, and a rotation is requested": {
			p,
			state{current: b, currentSince: old, previous: a, carriedSince: epoch.Add(-delay), force: true},
			carriedComplete,
			state{current: b, currentSince: old, force: true},
			"dropped",
		},
	} {
		t.Run(name, func(t *testing.T) {
			after, step, err := test.policy.advance(test.state, epoch, test.has)
			if err != nil || !reflect.DeepEqual(after, test.want) || (step == "") != (test.says == "") || !strings.Contains(step, test.says) {
				t.Errorf("%q, %v, since %s, %s and %s, force %t", step, err, after.currentSince, after.nextSince, after.carriedSince, after.force)
			}
		})
	}
}

func TestAccepts(t *testing.T) {
	s := state{current: a, next: b}
	for name, test := range map[string]struct {
		secret string
		want   bool
	}{
		"current":              {a.secret("/one"), true},
		"next":                 {b.secret("/one"), true},
		"another key":          {c.secret("/one"), false},
		"no key":               {key(nil).secret("/one"), false},
		"of another webhook":   {a.secret("/two"), false},
		"nothing":              {"", false},
		"the key itself":       {string(a), false},
		"the beginning":        {a.secret("/one")[:63], false},
		"more":                 {a.secret("/one") + "0", false},
		"in capitals":          {strings.ToUpper(a.secret("/one")), false},
		"with a path after it": {a.secret("/one") + "/", false},
	} {
		if got := s.accepts("/one", test.secret); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
