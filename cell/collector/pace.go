// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// interval is the shortest time between two reads of all WorkloadDeployments for one Cell, and so between two writes.
const interval = 3 * time.Second

// pacer holds the time of the last update of each Cell. It is safe for concurrent use.
type pacer struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	last map[types.NamespacedName]time.Time
}

// wait is how long a Cell must wait. When it need not, its time is now.
func (p *pacer) wait(cell types.NamespacedName) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, known := p.last[cell]; known {
		if remaining := interval - p.clock.Since(last); remaining > 0 {
			return remaining
		}
	}
	p.last[cell] = p.clock.Now()
	return 0
}

// forget removes a deleted Cell.
func (p *pacer) forget(cell types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, cell)
}
