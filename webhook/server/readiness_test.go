// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clocktesting "k8s.io/utils/clock/testing"
)

var (
	// errOutage is an error that all replicas share, errOwn a fault of this replica.
	errOutage = apierrors.NewServiceUnavailable("Milo cannot be reached")
	errOwn    = apierrors.NewInternalError(errors.New("Milo does not accept the credentials of this replica"))
)

// tried is a prober with given results of probes, and its log.
type tried struct {
	*prober
	clock *clocktesting.FakeClock
	// answer is the result of the next probe.
	answer error
	logged []string
}

func newTried(t *testing.T) *tried {
	t.Helper()
	r := &tried{clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	m := newMetrics(prometheus.NewRegistry(), true)
	r.prober = &prober{begun: r.clock.Now(), readiness: &readiness{
		windows: map[string]*window{}, probe: func(context.Context) error { return r.answer },
		serving: func() error { return nil }, idle: func() bool { return false },
		metrics: m, clock: r.clock, log: funcr.New(func(_, args string) { r.logged = append(r.logged, args) }, funcr.Options{}),
	}}
	return r
}

// started is a replica whose start is over.
func started(t *testing.T) *tried {
	t.Helper()
	r := newTried(t)
	r.probed(t, nil, 1)
	r.logged = nil
	if err := r.check(); err != nil {
		t.Fatalf("after Milo's first answer: %v", err)
	}
	return r
}

// probed probes a number of times, a second apart.
func (r *tried) probed(t *testing.T, answer error, times int) {
	t.Helper()
	r.answer = answer
	for range times {
		r.clock.Step(probeInterval)
		if !r.isDue() {
			t.Fatal("no probe is due")
		}
		r.step(t.Context())
	}
}

// requests records outcomes of requests to a webhook.
func (r *tried) requests(webhook string, times int, ended outcome) {
	for range times {
		r.recorder(webhook)(ended)
	}
}

func (r *tried) reachable() float64 { return testutil.ToFloat64(r.metrics.reachable) }

// TestOwnFault: a replica is unready while the requests to one webhook fail, and recovers without requests.
func TestOwnFault(t *testing.T) {
	r := started(t)
	r.requests("a", windowLeast, failed)
	r.requests("b", windowLeast, allowed)
	if err := r.check(); err == nil || !strings.Contains(err.Error(), "more than half of the last requests to webhook a") || !r.closing() {
		t.Errorf("requests fail: %v", err)
	}
	r.probed(t, nil, probesInARow-1)
	r.probed(t, errOwn, 1)
	r.probed(t, nil, probesInARow-1)
	if err := r.check(); err == nil || testutil.ToFloat64(r.metrics.ready) != 0 {
		t.Errorf("ready before %d probes in a row", probesInARow)
	}
	r.probed(t, nil, 1)
	if err := r.check(); err != nil || r.closing() || testutil.ToFloat64(r.metrics.ready) != 1 {
		t.Errorf("after %d probes in a row: %v", probesInARow, err)
	}
}

// TestOwnFaultBeforeAnyRequest: probes alone find a fault of the replica.
func TestOwnFaultBeforeAnyRequest(t *testing.T) {
	r := started(t)
	r.clock.Step(restInterval)
	r.probed(t, errOwn, probesInARow-1)
	r.probed(t, errOutage, 1)
	r.probed(t, errOwn, probesInARow-1)
	if err := r.check(); err != nil {
		t.Errorf("before %d probes in a row: %v", probesInARow, err)
	}
	r.probed(t, errOwn, 1)
	if err := r.check(); !errors.Is(err, errOwn) || !r.closing() {
		t.Errorf("after %d probes in a row: %v", probesInARow, err)
	}
	// In an outage of Milo this replica is no worse than others.
	r.probed(t, errOutage, probesInARow)
	if err := r.check(); err != nil {
		t.Errorf("in an outage: %v", err)
	}
}

// TestOutage: an error that all replicas share leaves the replica ready, and is logged once when it begins and once
// when it ends.
func TestOutage(t *testing.T) {
	r := started(t)
	if r.clock.Step(probeInterval); r.isDue() {
		t.Error("nothing is wrong and a probe is due")
	}
	if r.reachable() != 1 {
		t.Errorf("before the outage the gauge is %v", r.reachable())
	}
	for range probesInARow {
		r.requests("a", windowSize, unavailable)
		r.probed(t, errOutage, 1)
		if err := r.check(); err != nil || r.closing() {
			t.Errorf("in an outage: %v, closing %t", err, r.closing())
		}
	}
	r.probed(t, nil, probesInARow-1)
	r.probed(t, errOutage, 1)
	r.probed(t, nil, probesInARow-1)
	if r.reachable() != 0 {
		t.Errorf("in the outage the gauge is %v", r.reachable())
	}
	r.probed(t, nil, 1)
	if r.reachable() != 1 {
		t.Errorf("after the outage the gauge is %v", r.reachable())
	}
	want := []string{"Projects cannot be looked up: ", "Projects can be looked up again"}
	if !slices.EqualFunc(r.logged, want, strings.Contains) {
		t.Errorf("logged %q, want %q", r.logged, want)
	}
}

// TestOutageIsFoundWithoutRequests: cached answers hide an outage, and probes find it.
func TestOutageIsFoundWithoutRequests(t *testing.T) {
	r := started(t)
	r.clock.Step(restInterval - probeInterval)
	r.probed(t, errOutage, 1)
	if r.reachable() != 0 || r.check() != nil {
		t.Errorf("the gauge is %v, readiness %v", r.reachable(), r.check())
	}
}

// TestStart: a replica is ready when Milo has answered, or after startGrace unless it has a fault of its own.
func TestStart(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		after  time.Duration
		want   bool
	}{
		"Milo answers":                    {want: true},
		"an outage":                       {answer: errOutage, after: startGrace - 2*probeInterval},
		"an outage that lasts":            {answer: errOutage, after: startGrace, want: true},
		"a fault of this replica":         {answer: errOwn, after: startGrace},
		"an error that nobody classified": {answer: errors.New("no"), after: startGrace, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTried(t)
			if err := r.check(); err == nil || !strings.Contains(err.Error(), "could not be looked up yet") {
				t.Errorf("before any answer: %v", err)
			}
			r.clock.Step(c.after)
			r.probed(t, c.answer, 1)
			if err := r.check(); (err == nil) != c.want || !c.want && !errors.Is(err, c.answer) {
				t.Errorf("readiness is %v", err)
			}
			if c.want {
				return
			}
			r.probed(t, nil, 1)
			if err := r.check(); err != nil {
				t.Errorf("after Milo's answer: %v", err)
			}
		})
	}
}

// TestNotReady: without a certificate, and while shutting down.
func TestNotReady(t *testing.T) {
	r := started(t)
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

// TestProbesAreRun: probes run by the clock, without requests.
func TestProbesAreRun(t *testing.T) {
	r := newTried(t)
	probes := make(chan struct{})
	r.probe = func(context.Context) error {
		probes <- struct{}{}
		return nil
	}
	ended := make(chan struct{})
	record := r.recorder("a")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		r.run(ctx)
	}()
	<-probes
	for range windowSize {
		record(failed)
	}
	for range probesInARow {
		r.clock.Step(probeInterval)
		<-probes
	}
	// The next probe starts after the result of the last one was used.
	r.clock.Step(restInterval)
	<-probes
	cancel()
	<-ended
	if err := r.check(); err != nil {
		t.Error(err)
	}
}
