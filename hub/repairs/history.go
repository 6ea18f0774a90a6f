// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package repairs

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

const (
	// firstPause is the pause after the first repair of an object. It doubles with each further repair, up to
	// longestPause.
	firstPause   = 15 * time.Second
	longestPause = 10 * time.Minute
	// forgetAfter is how long after its last repair an object stays in the history. It is longer than any pause.
	forgetAfter = 30 * time.Minute
)

// repairKey is one fault of one object in one cell.
type repairKey struct {
	kind   string
	name   types.NamespacedName
	reason string
	cell   string
}

// attempts are the repairs of one fault.
type attempts struct {
	count int
	last  time.Time
}

// history records the repairs of each object. It is safe for concurrent use.
type history struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	faults map[repairKey]attempts
	// swept is when past faults were last removed.
	swept time.Time
}

func newHistory(c clock.PassiveClock) *history {
	return &history{clock: c, faults: map[repairKey]attempts{}, swept: c.Now()}
}

// wait returns how long the next repair has to wait; 0: not at all.
func (h *history) wait(k repairKey) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, found := h.known(k)
	if !found {
		return 0
	}
	return max(0, pauseAfter(known.count)-h.clock.Since(known.last))
}

// begin records a repair, now, and returns its number.
func (h *history) begin(k repairKey) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sweep()
	known, _ := h.known(k)
	known.count++
	known.last = h.clock.Now()
	h.faults[k] = known
	return known.count
}

func (h *history) attempts(k repairKey) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, _ := h.known(k)
	return known.count
}

// known returns the repairs of a fault that are not forgotten. h.mu is held.
func (h *history) known(k repairKey) (attempts, bool) {
	known, found := h.faults[k]
	if !found || h.clock.Since(known.last) >= forgetAfter {
		return attempts{}, false
	}
	return known, true
}

// sweep removes forgotten entries from time to time. h.mu is held.
func (h *history) sweep() {
	if h.clock.Since(h.swept) < forgetAfter {
		return
	}
	h.swept = h.clock.Now()
	for k, known := range h.faults {
		if h.clock.Since(known.last) >= forgetAfter {
			delete(h.faults, k)
		}
	}
}

// pauseAfter returns the pause after count repairs.
func pauseAfter(count int) time.Duration {
	wait := firstPause
	for i := 1; i < count && wait < longestPause; i++ {
		wait *= 2
	}
	return min(wait, longestPause)
}
