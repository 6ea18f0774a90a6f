// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package coalesce lets the write of a passing state wait a moment for the state that lasts, so that both cost one write.
package coalesce

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// Limit is the time for which a transient state waits. It is long enough for most Instances to start, and short enough for people
	// who watch.
	Limit = 500 * time.Millisecond
	// forgottenAfter is the time after which an unrequested state is dropped: its object is gone.
	forgottenAfter = time.Minute
)

// Writes are the delayed writes, by the key of their object. A nil Writes delays none. It is safe for concurrent use.
type Writes[K comparable] struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	since   map[K]time.Time
	cleaned time.Time
}

// New returns Writes without a delayed write.
func New[K comparable](c clock.PassiveClock) *Writes[K] {
	return &Writes[K]{clock: c, since: map[K]time.Time{}, cleaned: c.Now()}
}

// Wait is how long the write of a passing state still waits, 0 when it has waited for Limit. The first call begins the wait.
func (w *Writes[K]) Wait(object K) time.Duration { return w.WaitAtMost(object, Limit) }

// WaitAtMost is Wait with another limit.
func (w *Writes[K]) WaitAtMost(object K, limit time.Duration) time.Duration {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	w.clean(now)
	since, waits := w.since[object]
	if !waits {
		since = now
		w.since[object] = now
	}
	return max(0, since.Add(limit).Sub(now))
}

// Done ends the wait: the state is written, or there is nothing to write any more. The next transient state has a wait of its own.
func (w *Writes[K]) Done(object K) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.since, object)
}

// clean drops objects that were not requested in time. w.mu is held.
func (w *Writes[K]) clean(now time.Time) {
	if now.Sub(w.cleaned) < forgottenAfter {
		return
	}
	w.cleaned = now
	for object, since := range w.since {
		if now.Sub(since) > forgottenAfter {
			delete(w.since, object)
		}
	}
}
