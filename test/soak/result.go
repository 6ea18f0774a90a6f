// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Result is the result of a soak.
type Result struct {
	Seed     uint64
	Duration time.Duration
	Faults   int
	// Operations that succeeded, and the number of requests for them.
	Operations, Requests int
	Failures             []error
	// Excused is how many requests may fail: one that a replica answered when it was killed, and any while Milo was down.
	Excused int
	// P99 of the latencies of requests.
	P99 time.Duration
	// Ended are the processes that ended without being killed, and were restarted.
	Ended []string
	// Settled is the time from the last fault until project, hub and cells agreed; 0 if they did not.
	Settled time.Duration
	// Longest is the disagreement that lasted longest.
	Longest Standing
	// Left are the remaining disagreements at the end.
	Left []Standing
	// Broken are other promises that were not kept.
	Broken []string
}

// Err returns an error if disagreements are left, or more requests failed than are excused.
func (r *Result) Err() error {
	var failed error
	if len(r.Failures) > r.Excused {
		failed = fmt.Errorf("seed %d: %d requests of the consumer failed: %w", r.Seed, len(r.Failures), errors.Join(r.Failures...))
	}
	if len(r.Broken) > 0 {
		failed = errors.Join(failed, fmt.Errorf("seed %d: %s", r.Seed, strings.Join(r.Broken, "\n")))
	}
	if r.Settled > 0 {
		return failed
	}
	lines := make([]string, 0, len(r.Left))
	for _, d := range r.Left {
		lines = append(lines, d.String())
	}
	return errors.Join(failed, fmt.Errorf("seed %d: project, hub and cells disagree in %d places:\n%s", r.Seed,
		len(r.Left), strings.Join(lines, "\n")))
}

// String returns the figures in one line.
func (r *Result) String() string {
	settled := "not settled"
	if r.Settled > 0 {
		settled = fmt.Sprintf("settled %.0f s after the last fault", r.Settled.Seconds())
	}
	return fmt.Sprintf("seed %d, %.0f s: %d faults, %d operations in %d requests, %d failed, p99 %.2f s; %s; longest disagreement %.0f s",
		r.Seed, r.Duration.Seconds(), r.Faults, r.Operations, r.Requests, len(r.Failures), r.P99.Seconds(), settled, r.Longest.Age.Seconds())
}

// Row returns the figures as a row of the table in docs/reliability.md.
func (r *Result) Row() string {
	settled := "–"
	if r.Settled > 0 {
		settled = fmt.Sprintf("%.0f s", r.Settled.Seconds())
	}
	return fmt.Sprintf("| %d | %d | %d | %d of %d | %.2f s | %s | %.0f s |",
		r.Seed, r.Faults, r.Operations, len(r.Failures), r.Requests, r.P99.Seconds(), settled, r.Longest.Age.Seconds())
}

// excuses returns how many requests of the consumer may fail because of a fault.
func excuses(process string) int {
	switch {
	case strings.HasPrefix(process, replicaPrefix):
		return 1
	case process == "milo" || strings.HasPrefix(process, "milo-") || strings.HasPrefix(process, "project-plane-"):
		return math.MaxInt32 // no server answers
	}
	return 0
}
