// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// fetcher sends a request to Milo. An error means that Milo did not answer. "Not found" is an answer.
type fetcher[V any] func(ctx context.Context) (value V, found bool, err error)

// entry is the state of a key. It is replaced and never changed, so that it can be read without a lock.
type entry[V any] struct {
	value V
	found bool
	// answered is the time of Milo's last answer, which gave value and found. Zero: none.
	answered time.Time
	// failure is the error of the last request, at the time failed. Nil: the request succeeded.
	failure error
	failed  time.Time
	// asking is the start time of the request in flight. Zero: no request.
	asking time.Time
	// observation is the number of the watch event that gave value and found. 0: a request did.
	observation uint64
}

// answers caches Milo's answers. Concurrent lookups of a key share one request, and no lock is held during requests, so
// that a slow answer for one key delays no other.
type answers[V any] struct {
	kind, plane, what string
	lifetimes         lifetimes
	clock             clock.Clock
	metrics           *lookupMetrics
	entries           *cache.LRUExpireCache
	flights           singleflight.Group
	// isNewer reports whether an answer is newer than an event that arrived while the request was in flight. Nil: it is
	// not newer.
	isNewer func(answer, event V) bool

	// mu guards observations, and entries whose next value depends on the current one. It is never held during a request.
	mu           sync.Mutex
	observations uint64
}

// refreshed is the result of a flight.
type refreshed[V any] struct {
	entry[V]
	// asked reports that a request was sent.
	asked bool
}

// newAnswers creates an empty cache. kind is the label of its metrics, and what names the subject in errors.
func newAnswers[V any](l *Lookup, kind, what string, lifetimes lifetimes) *answers[V] {
	return &answers[V]{
		kind: kind, plane: l.planes.Name(), what: what, lifetimes: lifetimes, clock: l.clock, metrics: l.metrics,
		entries: cache.NewLRUExpireCacheWithClock(maxEntries, l.clock),
	}
}

// get returns the cached answer, or fetches it. It returns when ctx ends at the latest. fetch runs in the background
// and does not end with ctx: other callers may wait for it, and its answer is cached.
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
	flight := a.flights.DoChan(key, func() (any, error) { return a.refresh(ctx, key, a.isFresh, fetch), nil })
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
		if r, ok := result.Val.(refreshed[V]); ok {
			return a.settle(r.entry)
		}
	case <-enough:
	case <-ctx.Done():
	}
	if stale {
		return e, outcomeStale, nil
	}
	return e, outcomeError, a.late(ctx)
}

// late is the error for a caller whose time has ended before Milo answered.
func (a *answers[V]) late(ctx context.Context) error {
	return &unansweredError{plane: a.plane, what: a.what, err: fmt.Errorf("it did not answer in time: %w", ctx.Err())}
}

// getFresh returns an answer that is younger than maxAge, or fetches it: never an old one. With 0 it always fetches, or
// waits for the request that is in flight. Otherwise it is as get.
func (a *answers[V]) getFresh(ctx context.Context, key string, maxAge time.Duration, fetch fetcher[V]) (value V, found bool, err error) {
	e, outcome, err := a.resolveFresh(ctx, key, maxAge, fetch)
	a.metrics.count(a.kind, outcome)
	if err != nil {
		return value, false, err
	}
	return e.value, e.found, nil
}

// resolveFresh is getFresh without metrics.
func (a *answers[V]) resolveFresh(
	ctx context.Context, key string, maxAge time.Duration, fetch fetcher[V],
) (e entry[V], outcome string, err error) {
	isYoung := func(e entry[V]) bool { return !e.answered.IsZero() && a.clock.Since(e.answered) < maxAge }
	for {
		e = a.load(key)
		switch {
		case a.isBackingOff(e):
			return e, outcomeError, e.failure
		case isYoung(e):
			return e, outcomeHit, nil
		}
		flight := a.flights.DoChan(key, func() (any, error) { return a.refresh(ctx, key, isYoung, fetch), nil })
		select {
		case result := <-flight:
			// Another caller's flight may have ended with a cached answer that is fresh enough for that caller only: try again.
			if r, ok := result.Val.(refreshed[V]); ok && r.failure != nil {
				return r.entry, outcomeError, r.failure
			} else if ok && r.asked {
				return r.entry, outcomeMiss, nil
			}
		case <-ctx.Done():
			return e, outcomeError, a.late(ctx)
		}
	}
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

// refresh fetches and caches an answer, unless there is one that is good enough. Only one runs for a key at a time. It
// takes the values of ctx and not its end.
func (a *answers[V]) refresh(ctx context.Context, key string, isEnough func(entry[V]) bool, fetch fetcher[V]) refreshed[V] {
	e, observed, enough := a.begin(key, isEnough)
	if enough {
		return refreshed[V]{entry: e}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	began := a.clock.Now()
	value, found, err := fetch(ctx)
	now := a.clock.Now()
	a.metrics.took(a.kind, now.Sub(began))
	if err != nil {
		e.asking = time.Time{}
		e.failure, e.failed = err, now
	} else {
		e = entry[V]{value: value, found: found, answered: now}
	}
	return refreshed[V]{entry: a.finish(key, e, observed), asked: true}
}

// begin is the entry of a key, how many events have been observed so far, and whether no request is needed: because
// another one ended after the caller read the cache and before this one began.
func (a *answers[V]) begin(key string, isEnough func(entry[V]) bool) (e entry[V], observed uint64, enough bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e = a.load(key)
	if isEnough(e) || a.isBackingOff(e) {
		return e, a.observations, true
	}
	if a.isUsable(e) {
		// So that callers from now on know how long this request has taken already.
		e.asking = a.clock.Now()
		a.store(key, e)
	}
	return e, a.observations, false
}

// finish caches the outcome of a request and returns the cached entry. observed is the number of events before the
// request: an event that arrived during the request is newer than the answer.
func (a *answers[V]) finish(key string, e entry[V], observed uint64) entry[V] {
	a.mu.Lock()
	defer a.mu.Unlock()
	event := a.load(key)
	isOlder := event.observation > observed &&
		(e.failure != nil || a.isNewer == nil || !e.found || !event.found || !a.isNewer(e.value, event.value))
	if isOlder {
		event.asking = time.Time{}
		e = event
	}
	a.store(key, e)
	return e
}

// observe replaces the cached value for a key by the value from a watch. Keys that were never requested are not cached.
func (a *answers[V]) observe(key string, value V, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, ok := a.entries.Get(key)
	if !ok {
		return
	}
	a.observations++
	e := entry[V]{value: value, found: found, answered: a.clock.Now(), observation: a.observations}
	if asking, ok := before.(entry[V]); ok {
		e.asking = asking.asking
	}
	a.store(key, e)
}

// isFresh reports whether an entry needs no refresh.
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

// isUsable reports whether an entry may be served while Milo gives no answer. "Not found" may not: the object may have
// been created since.
func (a *answers[V]) isUsable(e entry[V]) bool {
	return e.found && a.clock.Since(e.answered) <= a.lifetimes.stale
}

// isBackingOff reports whether the last request failed too recently for a retry. A request that has taken its whole
// time was a wait of its own: without a stale answer, the next caller waits for another one within its own time,
// instead of being refused at once.
func (a *answers[V]) isBackingOff(e entry[V]) bool {
	if errors.Is(e.failure, context.DeadlineExceeded) && !a.isUsable(e) {
		return false
	}
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

// load returns the entry of a key, or an empty one.
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
