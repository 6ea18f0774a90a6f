// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// Limit is the time for which a transient state waits. It is long enough for most Instances to start, and short enough
	// for people who watch.
	Limit = 500 * time.Millisecond
	// CrowdShare is the time for which a transient state waits per waiting object of its group. While many objects start
	// at once, writes of their transient states would delay the states that last.
	CrowdShare = 100 * time.Millisecond
	// CrowdLimit is the longest time for which a transient state waits in a crowd.
	CrowdLimit = 5 * time.Second
	// forgottenAfter is the time after which an unrequested state is dropped: its object is gone.
	forgottenAfter = time.Minute
)

// Writes are the delayed writes, by the key of their object. A nil Writes delays none. It is safe for concurrent use.
type Writes[K comparable] struct {
	clock clock.PassiveClock
	// group is the group of an object; nil: the limit does not depend on the number of objects.
	group func(K) string

	mu      sync.Mutex
	since   map[K]time.Time
	waiting map[string]int
	cleaned time.Time
}

// NewWrites returns Writes without a delayed write.
func NewWrites[K comparable](c clock.PassiveClock) *Writes[K] {
	return &Writes[K]{clock: c, since: map[K]time.Time{}, cleaned: c.Now()}
}

// NewGroupedWrites returns Writes without a delayed write, whose limit grows with the number of waiting objects of a group:
// about ten transient states of a group are written in a second.
func NewGroupedWrites[K comparable](c clock.PassiveClock, group func(K) string) *Writes[K] {
	w := NewWrites[K](c)
	w.group, w.waiting = group, map[string]int{}
	return w
}

// Wait is how long the write of a passing state still waits, 0 when it has waited for its limit. The first call begins
// the wait.
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
		w.count(object, 1)
	}
	if w.group != nil {
		limit = max(limit, min(CrowdLimit, time.Duration(w.waiting[w.group(object)])*CrowdShare))
	}
	return max(0, since.Add(limit).Sub(now))
}

// Done ends the wait: the state is written, or there is nothing to write any more. The next transient state has a wait
// of its own.
func (w *Writes[K]) Done(object K) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(object)
}

// drop ends the wait of an object, if it waits. w.mu is held.
func (w *Writes[K]) drop(object K) {
	if _, waits := w.since[object]; waits {
		delete(w.since, object)
		w.count(object, -1)
	}
}

// count changes the number of waiting objects of an object's group. w.mu is held.
func (w *Writes[K]) count(object K, change int) {
	if w.group == nil {
		return
	}
	group := w.group(object)
	if w.waiting[group] += change; w.waiting[group] == 0 {
		delete(w.waiting, group)
	}
}

// clean drops objects that were not requested in time. w.mu is held.
func (w *Writes[K]) clean(now time.Time) {
	if now.Sub(w.cleaned) < forgottenAfter {
		return
	}
	w.cleaned = now
	for object, since := range w.since {
		if now.Sub(since) > forgottenAfter {
			w.drop(object)
		}
	}
}
