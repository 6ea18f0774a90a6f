// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
	"sync"
	"time"
)

// samples are durations of requests. It is safe for concurrent use.
type samples struct {
	mu   sync.Mutex
	took []time.Duration
}

func (s *samples) add(took ...time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, took...)
}

// summary has the statistics of samples for a table.
type summary struct {
	count         int
	p50, p90, p99 time.Duration
	mean          time.Duration
}

func (s *samples) summary() summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	sorted := slices.Sorted(slices.Values(s.took))
	if len(sorted) == 0 {
		return summary{}
	}
	var sum time.Duration
	for _, took := range sorted {
		sum += took
	}
	return summary{
		count: len(sorted), mean: sum / time.Duration(len(sorted)),
		p50: percentile(sorted, 50), p90: percentile(sorted, 90), p99: percentile(sorted, 99),
	}
}

// percentile is the nearest-rank percentile of sorted durations: the smallest one that at least p percent of them do
// not exceed. It is 0 without durations.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
