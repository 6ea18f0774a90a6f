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
	// maxEntries bounds each cache. The least recently used entry is evicted first.
	maxEntries = 16384
	// requestTimeout bounds a request to Milo, which outlives its callers.
	requestTimeout = 10 * time.Second
	// backoff is how long a failed request is not retried: callers get the same failure, or the stale answer, at once.
	backoff = time.Second
	// refreshWait is how long callers with a stale answer wait for a fresh one, from the beginning of the request.
	refreshWait = time.Second
	// shortRefreshWait is the same after a failure: enough for a Milo that answers again, and short, since otherwise every
	// caller in turn would wait for a Milo that hangs.
	shortRefreshWait = 250 * time.Millisecond
)

// lifetimes are how long answers are fresh.
type lifetimes struct {
	found    time.Duration
	notFound time.Duration
	// stale is the age up to which a found answer is served while Milo gives none. 0: never.
	stale time.Duration
}

// fetcher sends a request to Milo. An error says that Milo did not answer. That nothing was found is an answer.
type fetcher[V any] func(ctx context.Context) (value V, found bool, err error)

// entry is the state of a key. It is replaced and never changed, so that it can be read without a lock.
type entry[V any] struct {
	value V
	found bool
	// answered is the time of Milo's last answer, which gave value and found. Zero: none.
	answered time.Time
	// failure is the error of the last request, at the time failed. Nil: it succeeded.
	failure error
	failed  time.Time
	// asking is when the request in flight began. Zero: there is none.
	asking time.Time
}

// answers caches Milo's answers. Concurrent lookups of a key share one request, and no lock is held during requests, so that
// a slow answer for one key delays no other.
type answers[V any] struct {
	kind, what string
	lifetimes  lifetimes
	clock      clock.Clock
	metrics    *lookupMetrics
	entries    *cache.LRUExpireCache
	flights    singleflight.Group
}

// newAnswers makes an empty cache. kind is the label of its metrics, what names the subject in errors.
func newAnswers[V any](l *Lookup, kind, what string, lifetimes lifetimes) *answers[V] {
	return &answers[V]{
		kind: kind, what: what, lifetimes: lifetimes, clock: l.clock, metrics: l.metrics,
		entries: cache.NewLRUExpireCacheWithClock(maxEntries, l.clock),
	}
}

// get returns the cached answer, or fetches it. It returns when ctx ends at the latest. fetch runs in the background and does
// not end with ctx: other callers may wait for it, and its answer is cached.
func (a *answers[V]) get(ctx context.Context, key string, fetch fetcher[V]) (value V, found bool, err error) {
	known, outcome, err := a.resolve(ctx, key, fetch)
	a.metrics.count(a.kind, outcome)
	if err != nil {
		return value, false, err
	}
	return known.value, known.found, nil
}

// resolve is get without metrics.
func (a *answers[V]) resolve(ctx context.Context, key string, fetch fetcher[V]) (e entry[V], outcome string, err error) {
	e = a.load(key)
	stale := a.isUsable(e)
	switch {
	case a.isFresh(e):
		return e, outcomeHit, nil
	case a.isBackingOff(e) && stale:
		return e, outcomeStale, nil
	case a.isBackingOff(e):
		return e, outcomeError, e.failure
	}
	flight := a.flights.DoChan(key, func() (any, error) { return a.refresh(ctx, key, fetch), nil })
	var enough <-chan time.Time
	if stale {
		left := a.refreshWaitFor(e)
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
	return e, outcomeError, &unansweredError{what: a.what, err: fmt.Errorf("it did not answer in time: %w", ctx.Err())}
}

// settle is the result of a finished request for the callers that waited for it.
func (a *answers[V]) settle(e entry[V]) (entry[V], string, error) {
	switch {
	case e.failure == nil:
		return e, outcomeMiss, nil
	case a.isUsable(e):
		return e, outcomeStale, nil
	default:
		return e, outcomeError, e.failure
	}
}

// refresh fetches and caches an answer. Only one runs for a key at a time. It takes the values of ctx and not its end.
func (a *answers[V]) refresh(ctx context.Context, key string, fetch fetcher[V]) entry[V] {
	e := a.load(key)
	if a.isFresh(e) || a.isBackingOff(e) {
		// Another request ended after the caller read the cache and before this one began.
		return e
	}
	if a.isUsable(e) {
		// So that callers from now on know how long this request has taken already.
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

// isFresh says whether an entry needs no refresh.
func (a *answers[V]) isFresh(e entry[V]) bool {
	return !e.answered.IsZero() && a.clock.Since(e.answered) < a.lifetime(e)
}

// lifetime is how long an entry is fresh.
func (a *answers[V]) lifetime(e entry[V]) time.Duration {
	if e.found {
		return a.lifetimes.found
	}
	return a.lifetimes.notFound
}

// isUsable says whether an entry may be served while Milo gives no answer. "Not found" may not: the object may have been
// created since.
func (a *answers[V]) isUsable(e entry[V]) bool {
	return e.found && a.clock.Since(e.answered) <= a.lifetimes.stale
}

// isBackingOff says whether the last request failed too recently for a retry.
func (a *answers[V]) isBackingOff(e entry[V]) bool {
	return e.failure != nil && a.clock.Since(e.failed) < backoff
}

// refreshWaitFor is how much longer a caller with a stale entry waits for a fresh one.
func (a *answers[V]) refreshWaitFor(e entry[V]) time.Duration {
	left := refreshWait
	if e.failure != nil {
		left = shortRefreshWait
	}
	if !e.asking.IsZero() {
		left -= a.clock.Since(e.asking)
	}
	return left
}

// expire makes the next lookup of a key send a request, unless the last request failed.
func (a *answers[V]) expire(key string) {
	if e := a.load(key); e.failure == nil {
		a.entries.Remove(key)
	}
}

// load is the entry of a key, empty if there is none.
func (a *answers[V]) load(key string) entry[V] {
	if value, ok := a.entries.Get(key); ok {
		if e, ok := value.(entry[V]); ok {
			return e
		}
	}
	return entry[V]{}
}

// store caches an entry for as long as it may be used.
func (a *answers[V]) store(key string, e entry[V]) {
	keep := a.lifetime(e)
	if e.found {
		keep = max(keep, a.lifetimes.stale)
	}
	// An entry without an answer is older than any lifetime, and is kept only for its failure.
	keep -= a.clock.Since(e.answered)
	if e.failure != nil {
		keep = max(keep, backoff)
	}
	a.entries.Add(key, e, keep)
}
