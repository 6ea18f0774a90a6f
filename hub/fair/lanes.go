// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

const (
	// laneWorkers is how many things of a party are attended to at the same time.
	laneWorkers = 4
	// retrySoonest and retryLatest are the intervals between attempts: most API servers store an object within some milliseconds after
	// admission.
	retrySoonest, retryLatest = 5 * time.Millisecond, 2 * time.Second
)

// Next is when a thing must be attended to again; the zero value: when it is added again.
type Next struct {
	// Again: after a time, or if it is 0 after an interval that grows with each attempt.
	Again bool
	After time.Duration
}

// Lanes attend to the things of each party in a queue of its own: a party that hangs, or has many of them, delays no other one. A queue
// lasts as long as it has things. It is safe for concurrent use.
type Lanes[Party, Thing comparable] struct {
	// Attend attends to a thing. It is set before Start.
	Attend func(ctx context.Context, thing Thing) Next

	mu sync.Mutex
	// ctx is nil before start.
	ctx     context.Context //nolint:containedctx // it ends with the replica
	open    map[Party]*lane[Thing]
	workers sync.WaitGroup
}

// lane is the queue of a party.
type lane[Thing comparable] struct {
	queue workqueue.TypedRateLimitingInterface[Thing]
	// added counts how often each thing was added that is not done.
	added map[Thing]int
}

// Start lets things be attended to until ctx ends. Things that were added before are not.
func (l *Lanes[Party, Thing]) Start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx, l.open = ctx, map[Party]*lane[Thing]{}
}

// Stop waits until nothing is attended to any more. Its context has ended.
func (l *Lanes[Party, Thing]) Stop() {
	l.mu.Lock()
	for _, entry := range l.open {
		entry.queue.ShutDown()
	}
	l.ctx, l.open = nil, nil
	l.mu.Unlock()
	l.workers.Wait()
}

// Add lets a thing be attended to. It reports whether a worker will do so.
func (l *Lanes[Party, Thing]) Add(party Party, thing Thing) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		return false
	}
	entry := l.open[party]
	if entry == nil {
		entry = &lane[Thing]{
			queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[Thing](retrySoonest, retryLatest)),
			added: map[Thing]int{},
		}
		l.open[party] = entry
		// Stop removes the context while a worker may still begin.
		ctx := l.ctx
		for range laneWorkers {
			l.workers.Go(func() { l.work(ctx, party, entry) })
		}
	}
	entry.added[thing]++
	entry.queue.Add(thing)
	return true
}

// work attends to the things of a party until its lane is closed.
func (l *Lanes[Party, Thing]) work(ctx context.Context, party Party, entry *lane[Thing]) {
	for {
		thing, closed := entry.queue.Get()
		if closed {
			return
		}
		l.mu.Lock()
		added := entry.added[thing]
		l.mu.Unlock()
		next := Next{}
		if ctx.Err() == nil {
			next = l.Attend(ctx, thing)
		}
		switch {
		case next.Again && next.After > 0:
			entry.queue.AddAfter(thing, next.After)
		case next.Again:
			entry.queue.AddRateLimited(thing)
		default:
			entry.queue.Forget(thing)
			l.finish(party, entry, thing, added)
		}
		entry.queue.Done(thing)
	}
}

// finish forgets a thing that is done and was not added meanwhile, and closes the lane after the last one.
func (l *Lanes[Party, Thing]) finish(party Party, entry *lane[Thing], thing Thing, added int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if entry.added[thing] != added {
		return
	}
	delete(entry.added, thing)
	if len(entry.added) == 0 && l.open[party] == entry {
		delete(l.open, party)
		entry.queue.ShutDown()
	}
}
