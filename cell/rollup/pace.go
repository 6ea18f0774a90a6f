// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

const (
	// patience is how long a report that tells of a passing state waits for one that tells of a lasting state.
	patience = 500 * time.Millisecond

	// burst is how many bytes of reports of one deployment go up without a wait, and rate how many a second after that. Karmada
	// writes each report four times, in the cell, the Work, the binding and the hub.
	burst = 320e3
	rate  = 160e3
	// overhead is what a report costs besides its bytes: some ten requests, the CPU time of which would carry as many bytes.
	overhead = 32e3
)

// pace decides when a report of a deployment may go up. A report of any size goes up while there is budget left; what it takes too
// much, the next one waits for. It is safe for concurrent use.
type pace struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	budgets map[types.NamespacedName]*budget
}

// budget is what a deployment may still report.
type budget struct {
	// bytes were left at a time. They are negative after a report for which there were too few.
	bytes float64
	at    time.Time
	// pending is since when a report waits; zero when none does.
	pending time.Time
}

func newPace(c clock.PassiveClock) *pace {
	return &pace{clock: c, budgets: map[types.NamespacedName]*budget{}}
}

// rest is how long the next report of a deployment must wait; 0: not at all. passing says that it tells of a passing state.
func (p *pace) rest(deployment types.NamespacedName, passing bool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(deployment)
	if b.pending.IsZero() {
		b.pending = b.at
	}
	var wait time.Duration
	if b.bytes < 0 {
		wait = time.Duration(-b.bytes / rate * float64(time.Second))
	}
	if passing {
		wait = max(wait, b.pending.Add(patience).Sub(b.at))
	}
	return wait
}

// wrote records a report of so many bytes, now.
func (p *pace) wrote(deployment types.NamespacedName, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(deployment)
	b.bytes -= float64(bytes) + overhead
	b.pending = time.Time{}
}

// settled records that there is nothing to report.
func (p *pace) settled(deployment types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.budgets[deployment]; b != nil {
		b.pending = time.Time{}
	}
}

// forget removes a deployment that is gone.
func (p *pace) forget(deployment types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.budgets, deployment)
}

// budget is that of a deployment, now. p.mu is held.
func (p *pace) budget(deployment types.NamespacedName) *budget {
	now := p.clock.Now()
	b := p.budgets[deployment]
	if b == nil {
		b = &budget{bytes: burst, at: now}
		p.budgets[deployment] = b
	}
	b.bytes = min(burst, b.bytes+rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	return b
}
