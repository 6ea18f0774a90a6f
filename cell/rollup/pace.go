// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// interval is the shortest time between two writes of the status of one deployment. Each of them causes several on the hub.
const interval = time.Second

// pace has the time of the last write of each deployment. It is safe for concurrent use.
type pace struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	last map[types.NamespacedName]time.Time
}

func newPace(c clock.PassiveClock) *pace {
	return &pace{clock: c, last: map[types.NamespacedName]time.Time{}}
}

// rest is how long the next write of a deployment must wait; 0 or less: not at all.
func (p *pace) rest(deployment types.NamespacedName) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, written := p.last[deployment]
	if !written {
		return 0
	}
	return interval - p.clock.Since(last)
}

// wrote records a write of a deployment, now.
func (p *pace) wrote(deployment types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[deployment] = p.clock.Now()
}

// forget removes a deployment that is gone.
func (p *pace) forget(deployment types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, deployment)
}
