// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// readiness reports whether this replica should get requests. It is unready for faults of its own only: if a fault that
// all replicas share made them unready, they would leave the Service at the same time, and callers would get connection
// errors instead of an answer. It is safe for concurrent use.
type readiness struct {
	// windows has a window for each webhook, by name: the successes of one must not hide the failures of another. It does
	// not change once requests are served.
	windows map[string]*window
	// probe is Server.Probe.
	probe func(context.Context) error
	// serving returns an error while there is no serving certificate.
	serving func() error
	// idle reports that this replica does nothing yet.
	idle    func() bool
	metrics *metrics
	clock   clock.WithTicker
	log     logr.Logger

	// started reports that the start is over: see prober.start.
	started atomic.Bool
	// faulty describes the fault of this replica, nil without a fault. Only probes reset it.
	faulty   atomic.Pointer[string]
	draining atomic.Bool
	// suspected reports that Milo did not answer a request since the last probe.
	suspected atomic.Bool
	// last is the error of the last probe, nil if it succeeded.
	last atomic.Pointer[error]
}

// recorder returns the function that records the outcomes of requests to a webhook. It is called before requests are
// served.
func (r *readiness) recorder(webhook string) func(outcome) {
	w := r.windows[webhook]
	if w == nil {
		w = &window{clock: r.clock}
		r.windows[webhook] = w
	}
	return func(ended outcome) {
		if ended == unavailable {
			r.suspected.Store(true)
		}
		w.record(ended)
	}
}

// errDraining reports that the process shuts down.
var errDraining = errors.New("this replica is shutting down")

// check is nil while the replica is ready.
func (r *readiness) check() error {
	err := r.reason()
	if err != nil {
		r.metrics.ready.Set(0)
	} else {
		r.metrics.ready.Set(1)
	}
	return err
}

func (r *readiness) reason() error {
	if r.draining.Load() {
		return errDraining
	}
	if !r.started.Load() {
		return fmt.Errorf("projects could not be looked up yet: %w", r.lastError())
	}
	if err := r.serving(); err != nil {
		return fmt.Errorf("callers cannot connect: %w", err)
	}
	if r.idle() {
		return errors.New("the hub has not answered since this replica started; see its log")
	}
	if fault := r.fault(); fault != nil {
		return fmt.Errorf("%s; ready again once %d probes in a row find no fault of this replica: %w", *fault, probesInARow, r.lastError())
	}
	return nil
}

func (r *readiness) lastError() error {
	if last := r.last.Load(); last != nil {
		return *last
	}
	return errors.New("no lookup has failed")
}

// fault describes the fault of this replica, nil without a fault. It stays until probes reset it: an unready replica
// gets no requests, so its window contains no evidence.
func (r *readiness) fault() *string {
	if fault := r.faulty.Load(); fault != nil {
		return fault
	}
	for webhook, w := range r.windows {
		if w.failing() {
			fault := "more than half of the last requests to webhook " + webhook + " failed"
			r.takeOut(fault)
			return &fault
		}
	}
	return nil
}

// takeOut turns the replica unready.
func (r *readiness) takeOut(fault string) {
	if r.faulty.CompareAndSwap(nil, &fault) {
		r.log.Info("Not ready", "because", fault, "lookups", r.lastError().Error())
	}
}

// closing reports whether connections should be closed after an answer, so that callers connect to another replica.
func (r *readiness) closing() bool { return r.draining.Load() || r.faulty.Load() != nil }

const (
	// windowSize and windowAge bound the requests that the error ratio is computed from.
	windowSize = 100
	windowAge  = 30 * time.Second
	// windowLeast is the least number of requests for an error ratio: a few failures in a quiet hour are no evidence.
	windowLeast = 10
)

// window holds the outcomes of the last requests. It is safe for concurrent use.
type window struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	entries [windowSize]entry
	next    int
}

type entry struct {
	at     time.Time
	failed bool
}

// record adds a request, unless it failed because Milo did not answer: such a failure is no evidence about this
// replica.
func (w *window) record(ended outcome) {
	if ended == unavailable || ended == failedElsewhere {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries[w.next] = entry{at: w.clock.Now(), failed: ended == failed}
	w.next = (w.next + 1) % windowSize
}

// failing reports whether more than half of the requests in the window failed.
func (w *window) failing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := w.clock.Now().Add(-windowAge)
	total, failures := 0, 0
	for _, e := range w.entries {
		if e.at.Before(oldest) || e.at.IsZero() {
			continue
		}
		total++
		if e.failed {
			failures++
		}
	}
	return total >= windowLeast && failures*2 > total
}

func (w *window) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries = [windowSize]entry{}
}
