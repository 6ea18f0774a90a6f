// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// TestOutcomeOfStatus verifies that a replica becomes unready only by errors that are its own.
func TestOutcomeOfStatus(t *testing.T) {
	for code, want := range map[int]outcome{
		200: allowed, 403: denied, 422: denied, 500: failed, 501: unavailable, 502: failed, 503: unavailable, 504: failedElsewhere,
	} {
		if got := outcomeOfStatus(code); got != want {
			t.Errorf("%d: %s, want %s", code, got, want)
		}
	}
}

func TestWindow(t *testing.T) {
	many := func(n int, o outcome) []outcome { return slices.Repeat([]outcome{o}, n) }
	cases := map[string]struct {
		outcomes []outcome
		after    time.Duration
		want     bool
	}{
		"nothing":                      {},
		"one failure in a quiet hour":  {outcomes: many(1, failed)},
		"ten failures":                 {outcomes: many(10, failed), want: true},
		"half of them":                 {outcomes: append(many(10, failed), many(10, allowed)...)},
		"more than half":               {outcomes: append(many(11, failed), many(10, allowed)...), want: true},
		"denials are no failures":      {outcomes: many(100, denied)},
		"nor are those of one project": {outcomes: many(100, failedElsewhere)},
		"nor is an outage of Milo":     {outcomes: many(100, unavailable)},
		"and neither hides a failure": {
			outcomes: append(many(10, failed), append(many(60, unavailable), many(60, failedElsewhere)...)...), want: true,
		},
		"only the last hundred count":     {outcomes: append(many(100, failed), many(60, allowed)...)},
		"and the last hundred do":         {outcomes: append(many(100, allowed), many(60, failed)...), want: true},
		"only those of 30 seconds":        {outcomes: many(100, failed), after: windowAge + time.Second},
		"and those of 30 seconds all do ": {outcomes: many(100, failed), after: windowAge - time.Second, want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			w := &window{clock: clock}
			for _, o := range c.outcomes {
				w.record(o)
			}
			clock.Step(c.after)
			if got := w.failing(); got != c.want {
				t.Errorf("failing is %t", got)
			}
		})
	}
}
