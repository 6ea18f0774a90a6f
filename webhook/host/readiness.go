// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package host

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

const (
	// windowSize and windowAge say which requests the error ratio is made of.
	windowSize = 100
	windowAge  = 30 * time.Second
	// windowLeast is how many requests it takes to judge: one that failed in a quiet hour says little.
	windowLeast = 10
	// probeInterval is how often the way to what handlers need is tried while it is in doubt.
	probeInterval = time.Second
	// probesToRecover is how many probes in a row must succeed.
	probesToRecover = 3
)

// window holds how the last requests ended. It is safe for concurrent use.
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

// record adds a request. What is not this replica's fault counts as a success: it did what it could.
func (w *window) record(ended outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries[w.next] = entry{at: w.clock.Now(), failed: ended == failed}
	w.next = (w.next + 1) % windowSize
}

// failing says whether more than half of the requests of the window failed.
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

// readiness says whether this replica should be sent requests. It is safe for concurrent use.
type readiness struct {
	// windows are those of the webhooks, by name: what one can answer must not hide that another cannot. Not changed
	// once anything is served.
	windows map[string]*window
	// probe tries what handlers need, without any cache.
	probe func(context.Context) error
	// serving fails while there is no certificate to serve with.
	serving func() error
	// gauge follows the answer.
	gauge interface{ Set(float64) }
	clock clock.WithTicker
	log   logr.Logger

	answered atomic.Bool
	tripped  atomic.Bool
	draining atomic.Bool
	// last is why the last probe failed.
	last atomic.Pointer[error]
}

// windowFor is the window of a webhook.
func (r *readiness) windowFor(webhook string) *window {
	if r.windows[webhook] == nil {
		r.windows[webhook] = &window{clock: r.clock}
	}
	return r.windows[webhook]
}

// errDraining says that the process is about to end.
var errDraining = errors.New("this replica is shutting down")

// check is nil while the replica is ready.
func (r *readiness) check() error {
	err := r.reason()
	if err != nil {
		r.gauge.Set(0)
	} else {
		r.gauge.Set(1)
	}
	return err
}

func (r *readiness) reason() error {
	switch {
	case r.draining.Load():
		return errDraining
	case !r.answered.Load():
		return fmt.Errorf("projects could not be looked up yet: %w", r.lastError())
	case r.serving() != nil:
		return fmt.Errorf("callers cannot connect: %w", r.serving())
	case r.doubtful():
		return fmt.Errorf("more than half of the last requests failed; waiting for %d lookups in a row to succeed: %w", probesToRecover, r.lastError())
	default:
		return nil
	}
}

func (r *readiness) lastError() error {
	if last := r.last.Load(); last != nil {
		return *last
	}
	return errors.New("no answer yet")
}

// doubtful says whether requests fail. It stays so until probes succeed: a replica that is sent no requests would
// otherwise come back for no reason, or never.
func (r *readiness) doubtful() bool {
	if r.tripped.Load() {
		return true
	}
	failing := false
	for _, w := range r.windows {
		failing = failing || w.failing()
	}
	if !failing {
		return false
	}
	if r.tripped.CompareAndSwap(false, true) {
		r.log.Info("More than half of the last requests failed: not ready until lookups succeed again")
	}
	return true
}

// closing says whether connections should be closed after their answer, so that callers go to another replica.
func (r *readiness) closing() bool { return r.draining.Load() || r.tripped.Load() }

// run probes until ctx ends: until the first answer, and then whenever requests fail.
func (r *readiness) run(ctx context.Context) {
	ticker := r.clock.NewTicker(probeInterval)
	defer ticker.Stop()
	successes := 0
	for ctx.Err() == nil {
		successes = r.step(ctx, successes)
		// The gauge follows also where nobody asks.
		_ = r.check()
		select {
		case <-ctx.Done():
		case <-ticker.C():
		}
	}
}

// step probes once if that is called for, and returns how many probes in a row have succeeded.
func (r *readiness) step(ctx context.Context, successes int) int {
	if r.answered.Load() && !r.doubtful() {
		return 0
	}
	probing, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := r.probe(probing); err != nil {
		r.last.Store(&err)
		r.log.Error(err, "Not ready")
		return 0
	}
	if r.answered.CompareAndSwap(false, true) {
		r.log.Info("Ready: projects can be looked up")
		return 0
	}
	successes++
	if successes >= probesToRecover {
		// What failed before says nothing about now.
		for _, w := range r.windows {
			w.clear()
		}
		r.tripped.Store(false)
		r.log.Info("Ready again")
		return 0
	}
	return successes
}
