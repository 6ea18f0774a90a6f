// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import "time"

// timings are the times of replicas, in parts of Options.LeaseDuration.
type timings struct {
	// lease is how long a replica's Lease lasts, in whole seconds: Leases have no fractions.
	lease time.Duration
	// fence is how long a replica keeps its shards after it has sent a renewal that succeeded.
	fence time.Duration
	// look is the time between looks at all Leases.
	look time.Duration
	// retry is the time between attempts to renew that fail, and the least that a request may take.
	retry time.Duration
	// contend is the time until the next look of a replica that was not the first to change the record.
	contend time.Duration
	// request is how long any other request may take.
	request time.Duration
}

// perReplica is what each replica adds to the time between renewals, so that all together renew less than once a second.
const perReplica = 1020 * time.Millisecond

// longestLook is the longest time between looks, whatever Options.LeaseDuration is.
const longestLook = 2 * time.Second

func timingsFor(duration time.Duration) timings {
	// A replica that stops or joins must not be noticed late only because one that was killed may be.
	look := min(duration/15, longestLook)
	return timings{
		lease:   (duration * 13 / 15).Truncate(time.Second),
		fence:   (duration * 13 / 15).Truncate(time.Second) - duration/20,
		look:    look,
		retry:   look / 2,
		contend: look / 20,
		request: 2 * look,
	}
}

// renewal is the time between the renewals of one of some replicas. The more there are, the longer it is, and the less is left for
// further attempts: of the default 15 s, 8 s with two replicas and 2 s with ten or more.
func (t timings) renewal(replicas int) time.Duration {
	return min(max(t.lease/3, time.Duration(replicas)*perReplica), t.fence*5/6)
}
