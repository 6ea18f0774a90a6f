// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

const (
	// laneWorkers is how many sessions of a project are attended to at the same time.
	laneWorkers = 4
	// retrySoonest and retryLatest are the intervals between attempts: most API servers store a session within some
	// milliseconds after admission.
	retrySoonest, retryLatest = 5 * time.Millisecond, 2 * time.Second
)

// verdict is when a session must be attended to again.
type verdict struct {
	// again: after a time, or if it is 0 after an interval that grows with each attempt. Otherwise when the session is
	// added again.
	again bool
	after time.Duration
}

var (
	done  = verdict{}
	retry = verdict{again: true}
)

func later(after time.Duration) verdict { return verdict{again: true, after: after} }

// lanes attend to the sessions of each project in a queue of its own: a project that hangs, or has many sessions,
// delays no other one. A queue lasts as long as it has sessions. It is safe for concurrent use.
type lanes struct {
	// attend attends to a session.
	attend func(ctx context.Context, uid types.UID) verdict

	mu sync.Mutex
	// ctx is nil before start.
	ctx     context.Context //nolint:containedctx // it ends with the replica
	open    map[types.UID]*lane
	workers sync.WaitGroup
}

// lane is the queue of a project.
type lane struct {
	queue workqueue.TypedRateLimitingInterface[types.UID]
	// added counts how often each session was added that is not done.
	added map[types.UID]int
}

// start lets sessions be attended to until ctx ends. Sessions that were added before are not.
func (l *lanes) start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx, l.open = ctx, map[types.UID]*lane{}
}

// stop waits until no session is attended to any more. Its context has ended.
func (l *lanes) stop() {
	l.mu.Lock()
	for _, one := range l.open {
		one.queue.ShutDown()
	}
	l.ctx, l.open = nil, nil
	l.mu.Unlock()
	l.workers.Wait()
}

// add lets a session be attended to. It reports whether a worker will do so.
func (l *lanes) add(project, uid types.UID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		return false
	}
	one := l.open[project]
	if one == nil {
		one = &lane{
			queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[types.UID](retrySoonest, retryLatest)),
			added: map[types.UID]int{},
		}
		l.open[project] = one
		// stop removes the context while a worker may still begin.
		ctx := l.ctx
		for range laneWorkers {
			l.workers.Go(func() { l.work(ctx, project, one) })
		}
	}
	one.added[uid]++
	one.queue.Add(uid)
	return true
}

// work attends to sessions of a project until its lane is closed.
func (l *lanes) work(ctx context.Context, project types.UID, one *lane) {
	for {
		uid, closed := one.queue.Get()
		if closed {
			return
		}
		l.mu.Lock()
		added := one.added[uid]
		l.mu.Unlock()
		next := done
		if ctx.Err() == nil {
			next = l.attend(ctx, uid)
		}
		switch {
		case next.again && next.after > 0:
			one.queue.AddAfter(uid, next.after)
		case next.again:
			one.queue.AddRateLimited(uid)
		default:
			one.queue.Forget(uid)
			l.finish(project, one, uid, added)
		}
		one.queue.Done(uid)
	}
}

// finish forgets a session that is done and was not added meanwhile, and closes the lane after the last one.
func (l *lanes) finish(project types.UID, one *lane, uid types.UID, added int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.added[uid] != added {
		return
	}
	delete(one.added, uid)
	if len(one.added) == 0 && l.open[project] == one {
		delete(l.open, project)
		one.queue.ShutDown()
	}
}
