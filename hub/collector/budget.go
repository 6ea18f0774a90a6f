// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

const (
	// perSecond and burst bound the repairs of all cells together: a hub that recovers with thousands of faults must
	// not get an additional storm of writes.
	perSecond = 1
	burst     = 20
	// shareEnds is how long after its last request a cell keeps its share of the budget. It is longer than any caller
	// waits between requests.
	shareEnds = time.Minute
)

// budget divides the repairs equally among the cells that need any: a cell with thousands of faults delays no other cell.
// A cell alone has the whole budget. It is safe for concurrent use.
type budget struct {
	clock clock.PassiveClock

	mu  sync.Mutex
	all *rate.Limiter
	// cells are the shares of the cells that asked lately; "" is for objects that belong to no cell.
	cells map[string]*share
}

// share is a cell's part of the budget.
type share struct {
	limiter *rate.Limiter
	// asked is when the cell last asked.
	asked time.Time
}

func newBudget(c clock.PassiveClock) *budget {
	return &budget{clock: c, all: rate.NewLimiter(perSecond, burst), cells: map[string]*share{}}
}

// take takes a repair out of a cell's share. It returns how long to wait before the next attempt; 0: the repair may begin.
func (b *budget) take(cell string) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	s := b.shareOf(cell, now)
	count := len(b.cells)
	s.limiter.SetLimitAt(now, rate.Limit(perSecond)/rate.Limit(count))
	// At once, a cell gets its share of the remaining repairs. Saved repairs of one cell must not delay another when
	// few remain.
	left := b.all.TokensAt(now)
	s.limiter.SetBurstAt(now, max(1, int(left)/count))
	if left < 1 {
		return time.Second / perSecond
	}
	if !s.limiter.AllowN(now, 1) {
		return time.Duration(count) * time.Second / perSecond
	}
	b.all.AllowN(now, 1)
	return 0
}

// shareOf returns the share of a cell, and ends the shares of cells that no longer ask. b.mu is held.
func (b *budget) shareOf(cell string, now time.Time) *share {
	for name, s := range b.cells {
		if now.Sub(s.asked) > shareEnds {
			delete(b.cells, name)
		}
	}
	s := b.cells[cell]
	if s == nil {
		s = &share{limiter: rate.NewLimiter(perSecond, burst)}
		b.cells[cell] = s
	}
	s.asked = now
	return s
}
