// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

// shareEnds is how long after its last request a party keeps its share of the budget. It is longer than any caller waits between
// requests.
const shareEnds = time.Minute

// Budget divides actions per time equally among the parties that need any, such as cells or projects: one with thousands of actions
// delays no other. A party alone has the whole budget. It is safe for concurrent use.
type Budget struct {
	clock clock.PassiveClock

	mu  sync.Mutex
	all *rate.Limiter
	// parties are the shares of the parties that asked lately; "" is for actions of no party.
	parties map[string]*share
}

// share is a party's part of the budget.
type share struct {
	limiter *rate.Limiter
	// asked is when the party last asked.
	asked time.Time
}

// NewBudget returns a Budget of all parties together.
func NewBudget(c clock.PassiveClock, perSecond rate.Limit, burst int) *Budget {
	return &Budget{clock: c, all: rate.NewLimiter(perSecond, burst), parties: map[string]*share{}}
}

// Take takes an action out of a party's share. It returns how long to wait before the next attempt; 0: the action may begin.
func (b *Budget) Take(party string) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	s := b.shareOf(party, now)
	count := len(b.parties)
	s.limiter.SetLimitAt(now, b.all.Limit()/rate.Limit(count))
	// At once, a party gets its share of the remaining actions. Saved actions of one must not delay another when few remain.
	left := b.all.TokensAt(now)
	s.limiter.SetBurstAt(now, max(1, int(left)/count))
	if left < 1 {
		return b.pause(1)
	}
	if !s.limiter.AllowN(now, 1) {
		return b.pause(count)
	}
	b.all.AllowN(now, 1)
	return 0
}

// pause is how long count actions take.
func (b *Budget) pause(count int) time.Duration {
	return time.Duration(float64(count) * float64(time.Second) / float64(b.all.Limit()))
}

// shareOf returns the share of a party, and ends the shares of parties that no longer ask. b.mu is held.
func (b *Budget) shareOf(party string, now time.Time) *share {
	for name, s := range b.parties {
		if now.Sub(s.asked) > shareEnds {
			delete(b.parties, name)
		}
	}
	s := b.parties[party]
	if s == nil {
		s = &share{limiter: rate.NewLimiter(b.all.Limit(), b.all.Burst())}
		b.parties[party] = s
	}
	s.asked = now
	return s
}
