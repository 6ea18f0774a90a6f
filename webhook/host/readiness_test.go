// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	clocktesting "k8s.io/utils/clock/testing"
)

func newTestReadiness(probe func(context.Context) error) (*readiness, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return &readiness{
		windows: map[string]*window{}, probe: probe, serving: func() error { return nil }, clock: clock, log: logr.Discard(),
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{Name: "ready"}),
	}, clock
}

func TestWindow(t *testing.T) {
	many := func(n int, o outcome) []outcome {
		outcomes := make([]outcome, n)
		for i := range outcomes {
			outcomes[i] = o
		}
		return outcomes
	}
	cases := map[string]struct {
		outcomes []outcome
		after    time.Duration
		want     bool
	}{
		"nothing":                         {},
		"one failure in a quiet hour":     {outcomes: many(1, failed)},
		"ten failures":                    {outcomes: many(10, failed), want: true},
		"half of them":                    {outcomes: append(many(10, failed), many(10, allowed)...)},
		"more than half":                  {outcomes: append(many(11, failed), many(10, allowed)...), want: true},
		"denials are no failures":         {outcomes: many(100, denied)},
		"nor are those of one project":    {outcomes: many(100, failedElsewhere)},
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

// TestReadiness: not before the first answer, not while requests fail, and back without any.
func TestReadiness(t *testing.T) {
	problem := errors.New("Milo cannot be reached")
	var answer error
	r, _ := newTestReadiness(func(context.Context) error { return answer })
	ctx := t.Context()

	answer = problem
	r.step(ctx, 0)
	if err := r.check(); !errors.Is(err, problem) {
		t.Errorf("before the first answer: %v", err)
	}
	answer = nil
	r.step(ctx, 0)
	if err := r.check(); err != nil {
		t.Errorf("after the first answer: %v", err)
	}

	for range windowLeast {
		r.windowFor("a").record(failed)
		r.windowFor("b").record(allowed)
	}
	if r.check() == nil || !r.closing() {
		t.Error("requests fail and the replica is ready")
	}
	answer = problem
	successes := r.step(ctx, 2)
	if successes != 0 {
		t.Errorf("%d successes in a row after a failure", successes)
	}
	answer = nil
	for i := range probesToRecover {
		if r.check() == nil {
			t.Errorf("ready after %d probes", i)
		}
		successes = r.step(ctx, successes)
	}
	if err := r.check(); err != nil || r.closing() {
		t.Errorf("after %d probes: %v", probesToRecover, err)
	}

	none := errors.New("no certificate yet")
	r.serving = func() error { return none }
	if err := r.check(); !errors.Is(err, none) {
		t.Errorf("without a certificate: %v", err)
	}
	r.serving = func() error { return nil }

	r.draining.Store(true)
	if err := r.check(); !errors.Is(err, errDraining) || !r.closing() {
		t.Errorf("while shutting down: %v", err)
	}
}

// TestReadinessRecoversByItself: nobody asks for anything, and time passes.
func TestReadinessRecoversByItself(t *testing.T) {
	probed := make(chan struct{}, 100)
	r, clock := newTestReadiness(func(context.Context) error {
		probed <- struct{}{}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.run(ctx)
	}()
	<-probed
	for range windowSize {
		r.windowFor("a").record(failed)
	}
	if !r.doubtful() {
		t.Fatal("requests fail and nothing is in doubt")
	}
	for range probesToRecover {
		for !clock.HasWaiters() {
			if ctx.Err() != nil {
				t.Fatal("nothing waits for the clock")
			}
		}
		clock.Step(probeInterval)
		<-probed
	}
	cancel()
	<-ended
	if err := r.check(); err != nil {
		t.Error(err)
	}
}
