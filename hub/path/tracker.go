// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Tracker remembers since when findings last that the hub has no time of. It is safe for concurrent use. It holds nothing of
// deployments whose way is in order.
type Tracker[T comparable] struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	seen map[T]map[Key]time.Time
}

// NewTracker returns a Tracker of deployments that are known by a T.
func NewTracker[T comparable](c clock.PassiveClock) *Tracker[T] {
	return &Tracker[T]{clock: c, seen: map[T]map[Key]time.Time{}}
}

// Observe sets Since in findings that have none to when each was first observed, to the second, and forgets what is not found any
// more. A finding that ends and begins again is a new one.
func (t *Tracker[T]) Observe(deployment T, findings []Finding) []Finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.seen[deployment]
	if len(findings) == 0 {
		delete(t.seen, deployment)
		return nil
	}
	now := make(map[Key]time.Time, len(findings))
	for i := range findings {
		key := findings[i].Key()
		since, known := before[key]
		if !known {
			since = t.clock.Now().Truncate(time.Second)
		}
		now[key] = since
		if findings[i].Since.IsZero() {
			findings[i].Since = since
		}
	}
	t.seen[deployment] = now
	return findings
}

// Forget drops what is known of some deployments.
func (t *Tracker[T]) Forget(some func(deployment T) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.seen, func(deployment T, _ map[Key]time.Time) bool { return some(deployment) })
}

// Rest is how long a finding has to last yet before it counts; 0: it counts. It never exceeds bound, whatever other clocks say.
func (f *Finding) Rest(now time.Time, bound time.Duration) time.Duration {
	if f.Certain {
		return 0
	}
	return min(bound, max(0, bound-now.Sub(f.Since)))
}
