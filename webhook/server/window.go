// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// windowSize and windowAge bound the requests that the error ratio is computed from.
	windowSize = 100
	windowAge  = 30 * time.Second
	// windowLeast is the least number of requests for an error ratio: a few failures in a quiet hour are no evidence.
	windowLeast = 10
)

// window holds the outcomes of the last requests. It is safe for concurrent use.
type window struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	entries [windowSize]entry
	next    int
}

type entry struct {
	at     time.Time
	failed bool
}

// record adds a request, unless it failed because Milo did not answer: such a failure is no evidence about this replica.
func (w *window) record(ended outcome) {
	if ended == unavailable || ended == failedElsewhere {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries[w.next] = entry{at: w.clock.Now(), failed: ended == failed}
	w.next = (w.next + 1) % windowSize
}

// failing reports whether more than half of the requests in the window failed.
func (w *window) failing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := w.clock.Now().Add(-windowAge)
	total, failures := 0, 0
	for _, e := range w.entries {
		if e.at.Before(oldest) || e.at.IsZero() {
			continue
		}
		total++
		if e.failed {
			failures++
		}
	}
	return total >= windowLeast && failures*2 > total
}

func (w *window) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries = [windowSize]entry{}
}
