// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/internal/pace"
)

const (
	// burst is the number of bytes of a deployment's reports that are written without a wait, and rate the number of bytes
	// a second after that. Karmada writes each report four times, in the cell, the Work, the binding and the hub.
	burst = 320e3
	rate  = 160e3
	// overhead is the cost of a report besides its bytes: some ten requests, whose CPU time would carry as many bytes.
	overhead = 32e3
	// sliceOverhead is the overhead of a slice, for which Karmada does not write the hub's object and which no other
	// controller reads. A deployment of 5,000 Instances can report all of its slices in twenty seconds, before the hub
	// finds that a slice reports nothing.
	sliceOverhead = 16e3
	// lookInterval is the minimum time between two passes over all Instances of a deployment with slices. While thousands
	// of them start, there are hundreds of events a second, and the cost of each pass grows with the number of Instances.
	lookInterval = 100 * time.Millisecond
	// rolloutInterval is the minimum time between two reports of a deployment whose Instances are being replaced. The hub
	// acts on the end of a step, which is reported at once. With many Instances that are not Available it is longer, as
	// for a crowd (coalesce.CrowdShare): a report shows each of them in a state that passes, for which the project gets a
	// write.
	rolloutInterval = time.Second
)

// pacer decides when a deployment's report may be written. A report of any size is written while there is budget left;
// the next report waits for the excess. It is safe for concurrent use.
type pacer struct {
	clock clock.PassiveClock
	// passing are the reports of transient states.
	passing *pace.Writes[types.NamespacedName]
	// starting are the reports of slices with starting Instances.
	starting *pace.Writes[types.NamespacedName]

	mu      sync.Mutex
	budgets map[types.NamespacedName]*allowance
}

// allowance is the amount that a deployment may still report.
type allowance struct {
	// bytes were left at this time. They are negative after a report that exceeded the budget.
	bytes float64
	at    time.Time
	// looked is the time of the last pass over its Instances.
	looked time.Time
	// rolling reports that Instances are being replaced, and rolled is when the report before was written, or when that
	// began.
	rolling bool
	rolled  time.Time
}

func newPacer(c clock.PassiveClock) *pacer {
	return &pacer{
		clock: c, passing: pace.NewWrites[types.NamespacedName](c), starting: pace.NewWrites[types.NamespacedName](c),
		budgets: map[types.NamespacedName]*allowance{},
	}
}

// wait is the time that the next report of a deployment must wait; 0: none. passing marks a report of a transient
// state.
func (p *pacer) wait(deployment types.NamespacedName, passing bool) time.Duration {
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

// look is the time that the next pass over all Instances of a deployment must wait; if it is 0, the pass begins now.
func (p *pacer) look(deployment types.NamespacedName) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(deployment)
	if wait := b.looked.Add(lookInterval).Sub(b.at); wait > 0 {
		return wait
	}
	b.looked = b.at
	return 0
}

// replacement is the progress of a rollout. begun reports that some have not got their template yet, settled that all
// have it and are Available, and away is how many are not Available.
type replacement struct {
	begun, settled bool
	away           int
}

// rollout is the time that the next report of a deployment waits while its Instances are being replaced.
func (p *pacer) rollout(deployment types.NamespacedName, now replacement) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(deployment)
	switch {
	case now.settled:
		b.rolling = false
		return 0
	case now.begun && !b.rolling:
		b.rolling, b.rolled = true, b.at
	case !b.rolling:
		return 0
	}
	interval := max(rolloutInterval, min(pace.CrowdLimit, time.Duration(now.away)*pace.CrowdShare))
	return max(0, b.rolled.Add(interval).Sub(b.at))
}

// rollingOut reports whether Instances of a deployment are being replaced: its slices and their sums wait together.
func (p *pacer) rollingOut(deployment types.NamespacedName) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.budget(deployment).rolling
}

// spare is the time that an optional report of a deployment must wait: it uses nothing of the half of the budget that
// is reserved for required reports.
func (p *pacer) spare(deployment types.NamespacedName) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(max(0, burst/2-p.budget(deployment).bytes) / rate * float64(time.Second))
}

// spent records a write that costs as much as so many bytes, now.
func (p *pacer) spent(deployment types.NamespacedName, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(deployment)
	b.bytes -= float64(bytes)
	b.rolled = b.at
}

// wrote records the write of a report of so many bytes, now. The next passing state waits for itself.
func (p *pacer) wrote(deployment types.NamespacedName, bytes int) {
	p.spent(deployment, bytes+overhead)
	p.passing.Done(deployment)
}

// unchanged records that there is nothing to report.
func (p *pacer) unchanged(deployment types.NamespacedName) { p.passing.Done(deployment) }

// forget removes a deleted deployment.
func (p *pacer) forget(deployment types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.budgets, deployment)
	p.passing.Done(deployment)
}

// budget is the current budget of a deployment. p.mu is held.
func (p *pacer) budget(deployment types.NamespacedName) *allowance {
	now := p.clock.Now()
	b := p.budgets[deployment]
	if b == nil {
		b = &allowance{bytes: burst, at: now}
		p.budgets[deployment] = b
	}
	b.bytes = min(burst, b.bytes+rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	return b
}
