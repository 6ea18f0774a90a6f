// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// probeInterval is the time between probes while lookups fail or the replica is unready.
	probeInterval = time.Second
	// restInterval is the time between probes otherwise.
	restInterval = 10 * time.Second
	// probeTimeout bounds one probe.
	probeTimeout = 5 * time.Second
	// probesInARow is how many consecutive probes change the readiness of the replica, or end an outage.
	probesInARow = 3
	// startGrace is how long a new replica waits for Milo's first answer. A restart of Milo takes about as long.
	startGrace = 30 * time.Second
)

// prober periodically probes the dependencies of webhooks. The class of a probe's error separates faults of this
// replica from faults that all replicas share. It is used by one goroutine.
type prober struct {
	*readiness
	// begun is the start time of the replica, probed the time of the last probe.
	begun, probed time.Time
	// failing is the time since when probes fail, zero while they succeed.
	failing time.Time
	// Consecutive probes: successes succeeded, faults failed by a fault of this replica, faultless did not do so while the
	// replica was faulty.
	successes, faults, faultless int
}

// run probes until ctx ends.
func (r *readiness) run(ctx context.Context) {
	ticker := r.clock.NewTicker(probeInterval)
	defer ticker.Stop()
	p := &prober{readiness: r, begun: r.clock.Now()}
	for ctx.Err() == nil {
		if p.isDue() {
			p.step(ctx)
		}
		// Updates the gauge even if no request asks for readiness.
		_ = r.check()
		select {
		case <-ctx.Done():
		case <-ticker.C():
		}
	}
}

// isDue reports whether the next probe is due.
func (p *prober) isDue() bool {
	suspected := p.suspected.Swap(false)
	return suspected || !p.started.Load() || !p.failing.IsZero() || p.fault() != nil || p.clock.Since(p.probed) >= restInterval
}

// step probes once and updates readiness and metrics.
func (p *prober) step(ctx context.Context) {
	probing, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := p.probe(probing)
	p.probed = p.clock.Now()
	if ctx.Err() != nil {
		return
	}
	p.followOutage(err)
	own := apierrors.IsInternalError(err)
	switch {
	case !p.started.Load():
		p.start(err, own)
	case own:
		p.faultless = 0
		if p.faults++; p.faults >= probesInARow {
			p.takeOut("this replica gets no answer about projects")
		}
	case p.fault() != nil:
		p.faults = 0
		if p.faultless++; p.faultless >= probesInARow {
			p.takeBack()
		}
	default:
		p.faults, p.faultless = 0, 0
	}
}

// start turns the replica ready for the first time: when Milo has answered, or when startGrace is over and the error is
// no fault of this replica.
func (p *prober) start(err error, own bool) {
	switch {
	case err == nil:
		p.log.Info("Ready: projects can be looked up")
	case !own && p.clock.Since(p.begun) >= startGrace:
		p.log.Error(err, "Ready, but projects cannot be looked up: no lookup has been answered since this replica started", "grace", startGrace)
	default:
		return
	}
	p.started.Store(true)
}

// takeBack turns the replica ready again.
func (p *prober) takeBack() {
	// Earlier failures do not describe the replica's present state.
	for _, w := range p.windows {
		w.clear()
	}
	p.faulty.Store(nil)
	p.faultless = 0
	p.log.Info("Ready again")
}

// followOutage reports an outage of Milo by a metric, and by one log line when it begins and one when it ends.
func (p *prober) followOutage(err error) {
	if err != nil {
		p.last.Store(&err)
		p.successes = 0
		if p.failing.IsZero() {
			p.failing = p.clock.Now()
			p.metrics.reachable.Set(0)
			p.log.Error(err, "Projects cannot be looked up: requests that need a lookup are answered with an error")
		}
		return
	}
	p.last.Store(nil)
	p.successes++
	switch {
	case p.failing.IsZero():
		p.metrics.reachable.Set(1)
	case p.successes >= probesInARow:
		p.metrics.reachable.Set(1)
		p.log.Info("Projects can be looked up again", "after", p.clock.Since(p.failing))
		p.failing = time.Time{}
	}
}
