// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
)

const (
	// maxEntries bounds each cache. The least recently asked for is dropped first.
	maxEntries = 16384
	// requestTimeout ends a request to Milo that nobody else would end.
	requestTimeout = 10 * time.Second
	// pause is how long a question is not asked again after it failed: whoever asks meanwhile gets the same failure,
	// or the stale answer, at once.
	pause = time.Second
	// patience is how long a stale answer is held back for a fresh one, counted from when Milo was asked.
	patience = time.Second
	// shortPatience is the same once the newest attempt failed: enough for a Milo that is back, and short enough that
	// one that hangs is not felt by every user in turn.
	shortPatience = 250 * time.Millisecond
)

// lifetimes say how long an answer is good for.
type lifetimes struct {
	found    time.Duration
	notFound time.Duration
	// stale is for how long, from when it was given, a found answer stands in while Milo gives no other. 0 means never.
	stale time.Duration
}

// fetcher asks Milo. An error says that Milo did not answer; that there is no such thing is an answer, found being false.
type fetcher[V any] func(ctx context.Context) (value V, found bool, err error)

// entry is what is known about a key. It is never changed, only replaced, so that it may be read without a lock.
type entry[V any] struct {
	value V
	found bool
	// answered is when Milo gave value and found; zero when it never did.
	answered time.Time
	// failure is why the newest attempt gave no answer, at failed; nil when it gave one.
	failure error
	failed  time.Time
	// asking is when the request began that is under way; zero when none is.
	asking time.Time
}

// answers remembers what Milo answered. Concurrent questions about a key share one request, and no lock is held while
// Milo is asked, so that a slow answer about one key delays no other.
type answers[V any] struct {
	kind, what string
	lifetimes  lifetimes
	clock      clock.Clock
	metrics    *lookupMetrics
	entries    *cache.LRUExpireCache
	flights    singleflight.Group
}

// newAnswers makes an empty cache. kind labels its metrics; what says in errors what was asked for.
func newAnswers[V any](l *Lookup, kind, what string, lifetimes lifetimes) *answers[V] {
	return &answers[V]{
		kind: kind, what: what, lifetimes: lifetimes, clock: l.clock, metrics: l.metrics,
		entries: cache.NewLRUExpireCacheWithClock(maxEntries, l.clock),
	}
}

// get answers from the cache, or asks Milo. It returns at the latest when ctx ends. fetch is run in the background and
// goes on when ctx ends: others may wait for it, and its answer is kept for those who come later.
func (a *answers[V]) get(ctx context.Context, key string, fetch fetcher[V]) (value V, found bool, err error) {
	known, outcome, err := a.resolve(ctx, key, fetch)
	a.metrics.count(a.kind, outcome)
	if err != nil {
		return value, false, err
	}
	return known.value, known.found, nil
}

// resolve is get without the counting.
func (a *answers[V]) resolve(ctx context.Context, key string, fetch fetcher[V]) (e entry[V], outcome string, err error) {
	e = a.load(key)
	stale := a.standsIn(e)
	switch {
	case a.isFresh(e):
		return e, outcomeHit, nil
	case a.isResting(e) && stale:
		return e, outcomeStale, nil
	case a.isResting(e):
		return e, outcomeError, e.failure
	}
	flight := a.flights.DoChan(key, func() (any, error) { return a.refresh(ctx, key, fetch), nil })
	var enough <-chan time.Time
	if stale {
		left := a.patienceFor(e)
		if left <= 0 {
			return e, outcomeStale, nil
		}
		timer := a.clock.NewTimer(left)
		defer timer.Stop()
		enough = timer.C()
	}
	select {
	case result := <-flight:
		if refreshed, ok := result.Val.(entry[V]); ok {
			return a.settle(refreshed)
		}
	case <-enough:
	case <-ctx.Done():
	}
	if stale {
		return e, outcomeStale, nil
	}
	return e, outcomeError, asked(a.what, fmt.Errorf("it did not answer in time: %w", ctx.Err()))
}

// settle is what a finished request means for those who waited for it.
func (a *answers[V]) settle(e entry[V]) (entry[V], string, error) {
	switch {
	case e.failure == nil:
		return e, outcomeMiss, nil
	case a.standsIn(e):
		return e, outcomeStale, nil
	default:
		return e, outcomeError, e.failure
	}
}

// refresh asks Milo and remembers what came of it. Only one runs for a key at a time. It outlives ctx, of which it
// takes the values alone.
func (a *answers[V]) refresh(ctx context.Context, key string, fetch fetcher[V]) entry[V] {
	e := a.load(key)
	if a.isFresh(e) || a.isResting(e) {
		// Another request ended after the caller had looked and before this one began.
		return e
	}
	if a.standsIn(e) {
		// Those who come from now on know how long Milo has been thinking already.
		e.asking = a.clock.Now()
		a.store(key, e)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	began := a.clock.Now()
	value, found, err := fetch(ctx)
	now := a.clock.Now()
	a.metrics.took(a.kind, now.Sub(began))
	e.asking = time.Time{}
	if err != nil {
		e.failure, e.failed = err, now
	} else {
		e = entry[V]{value: value, found: found, answered: now}
	}
	a.store(key, e)
	return e
}

// isFresh says whether an entry needs no asking.
func (a *answers[V]) isFresh(e entry[V]) bool {
	return !e.answered.IsZero() && a.clock.Since(e.answered) < a.lifetime(e)
}

// lifetime is for how long an entry is fresh.
func (a *answers[V]) lifetime(e entry[V]) time.Duration {
	if e.found {
		return a.lifetimes.found
	}
	return a.lifetimes.notFound
}

// standsIn says whether an entry may be served while Milo gives no answer. That something was not found may not: it
// could have been made since.
func (a *answers[V]) standsIn(e entry[V]) bool {
	return e.found && a.clock.Since(e.answered) <= a.lifetimes.stale
}

// isResting says whether the newest attempt failed so recently that Milo is not asked again yet.
func (a *answers[V]) isResting(e entry[V]) bool {
	return e.failure != nil && a.clock.Since(e.failed) < pause
}

// patienceFor is how long whoever has a stale entry waits for a fresh one from now on.
func (a *answers[V]) patienceFor(e entry[V]) time.Duration {
	left := patience
	if e.failure != nil {
		left = shortPatience
	}
	if !e.asking.IsZero() {
		left -= a.clock.Since(e.asking)
	}
	return left
}

// expire has the next question about a key asked of Milo, unless the newest attempt failed.
func (a *answers[V]) expire(key string) {
	if e := a.load(key); e.failure == nil {
		a.entries.Remove(key)
	}
}

// load is the entry of a key, empty when nothing is known.
func (a *answers[V]) load(key string) entry[V] {
	if value, ok := a.entries.Get(key); ok {
		if e, ok := value.(entry[V]); ok {
			return e
		}
	}
	return entry[V]{}
}

// store keeps an entry for as long as it is of any use.
func (a *answers[V]) store(key string, e entry[V]) {
	keep := a.lifetime(e)
	if e.found {
		keep = max(keep, a.lifetimes.stale)
	}
	// What was never answered is older than any lifetime, and is kept for its failure alone.
	keep -= a.clock.Since(e.answered)
	if e.failure != nil {
		keep = max(keep, pause)
	}
	a.entries.Add(key, e, keep)
}
