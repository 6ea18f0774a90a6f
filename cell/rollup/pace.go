// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/internal/coalesce"
)

const (
	// burst is how many bytes of reports of one deployment go up without a wait, and rate how many a second after that. Karmada
	// writes each report four times, in the cell, the Work, the binding and the hub.
	burst = 320e3
	rate  = 160e3
	// overhead is what a report costs besides its bytes: some ten requests, the CPU time of which would carry as many bytes.
	overhead = 32e3
	// sliceOverhead is that of a slice, for which Karmada writes nothing to the hub's object and which no other controller reads. A
	// deployment of 5,000 Instances can report all of its slices in twenty seconds, before the hub finds that one reports nothing.
	sliceOverhead = 16e3
	// lookInterval is the least time between two looks at all Instances of a deployment with slices. While thousands of them start, there
	// are hundreds of events a second, and each look is as much work as there are Instances.
	lookInterval = 100 * time.Millisecond
)

// pace decides when a report of a deployment may go up. A report of any size goes up while there is budget left; what it takes too
// much, the next one waits for. It is safe for concurrent use.
type pace struct {
	clock clock.PassiveClock
	// passing are the reports of states that may soon be over.
	passing *coalesce.Writes[types.NamespacedName]
	// starting are those of slices with Instances that start.
	starting *coalesce.Writes[types.NamespacedName]

	mu      sync.Mutex
	budgets map[types.NamespacedName]*budget
}

// budget is what a deployment may still report.
type budget struct {
	// bytes were left at a time. They are negative after a report for which there were too few.
	bytes float64
	at    time.Time
	// looked is when its Instances were looked at last.
	looked time.Time
}

func newPace(c clock.PassiveClock) *pace {
	return &pace{
		clock: c, passing: coalesce.New[types.NamespacedName](c), starting: coalesce.New[types.NamespacedName](c),
		budgets: map[types.NamespacedName]*budget{},
	}
}

// rest is how long the next report of a deployment must wait; 0: not at all. passing says that it tells of a passing state.
func (p *pace) rest(deployment types.NamespacedName, passing bool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(deployment)
	var wait time.Duration
	if b.bytes < 0 {
		wait = time.Duration(-b.bytes / rate * float64(time.Second))
	}
	if passing {
		wait = max(wait, p.passing.Wait(deployment))
	}
	return wait
}

// look is how long the next look at all Instances of a deployment must wait; when it is 0 they are looked at now.
func (p *pace) look(deployment types.NamespacedName) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(deployment)
	if wait := b.looked.Add(lookInterval).Sub(b.at); wait > 0 {
		return wait
	}
	b.looked = b.at
	return 0
}

// spare is how long the next report of a deployment must wait that is not needed: it takes nothing of the half of the budget that is kept
// for those that are.
func (p *pace) spare(deployment types.NamespacedName) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(max(0, burst/2-p.budget(deployment).bytes) / rate * float64(time.Second))
}

// spent records a write that costs as much as so many bytes, now.
func (p *pace) spent(deployment types.NamespacedName, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budget(deployment).bytes -= float64(bytes)
}

// wrote records the write of a report of so many bytes, now. The next passing state waits for itself.
func (p *pace) wrote(deployment types.NamespacedName, bytes int) {
	p.spent(deployment, bytes+overhead)
	p.passing.Done(deployment)
}

// settled records that there is nothing to report.
func (p *pace) settled(deployment types.NamespacedName) { p.passing.Done(deployment) }

// forget removes a deployment that is gone.
func (p *pace) forget(deployment types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.budgets, deployment)
	p.passing.Done(deployment)
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
