// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// fence has the shards that this replica owns, and stops them when its Lease was not renewed in time, whatever else the
// replica waits for. It is safe for concurrent use.
type fence struct {
	clock clock.WithDelayedExecution
	log   logr.Logger

	mu       sync.Mutex
	deadline time.Time
	timer    clock.Timer
	owned    map[int]context.CancelFunc
}

// extend is called after a renewal: until then the replica may own shards.
func (f *fence) extend(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Renewed too late: another replica may have them by now.
	f.expire()
	f.deadline = until
	if f.timer != nil {
		f.timer.Stop()
	}
	f.timer = f.clock.AfterFunc(until.Sub(f.clock.Now()), func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.expire()
	})
}

// expire stops every shard if it is too late. f.mu is held.
func (f *fence) expire() {
	if f.clock.Now().Before(f.deadline) || len(f.owned) == 0 {
		return
	}
	f.log.Info("The Lease of this replica was not renewed in time; its shards are released", "shards", f.numbers())
	f.cancel(f.numbers())
}

// left is the time until the replica must own no shard. It is not positive if it may own none now.
func (f *fence) left() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deadline.Sub(f.clock.Now())
}

// start begins the ownership of shards, which ends with their contexts. It begins none after the deadline.
func (f *fence) start(parent context.Context, shards []int) map[int]context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	started := map[int]context.Context{}
	if !f.clock.Now().Before(f.deadline) {
		return started
	}
	for _, shard := range shards {
		ctx, cancel := context.WithCancel(parent)
		f.owned[shard], started[shard] = cancel, ctx
	}
	return started
}

// stop ends the ownership of shards.
func (f *fence) stop(shards []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancel(shards)
}

// close ends every ownership, and allows no new one before the next renewal.
func (f *fence) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deadline = time.Time{}
	f.cancel(f.numbers())
	if f.timer != nil {
		f.timer.Stop()
	}
}

// cancel ends the ownership of shards. f.mu is held.
func (f *fence) cancel(shards []int) {
	for _, shard := range shards {
		if cancel := f.owned[shard]; cancel != nil {
			cancel()
			delete(f.owned, shard)
		}
	}
}

// shards returns the shards that the replica owns.
func (f *fence) shards() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.numbers()
}

// numbers are the owned shards in order. f.mu is held.
func (f *fence) numbers() []int { return slices.Sorted(maps.Keys(f.owned)) }
