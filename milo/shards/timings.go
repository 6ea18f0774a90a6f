// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import "time"

// timings are the times of replicas, in parts of Options.LeaseDuration.
type timings struct {
	// lease is how long a replica's Lease lasts, in whole seconds: Leases have no fractions.
	lease time.Duration
	// fence is how long a replica keeps its shards after it sent a renewal that succeeded.
	fence time.Duration
	// look is the interval between checks of all Leases.
	look time.Duration
	// retry is the interval between failed attempts to renew, and the shortest timeout of a request.
	retry time.Duration
	// contend is the time until the next check of a replica whose change of the record conflicted.
	contend time.Duration
	// request is the timeout of any other request.
	request time.Duration

	// ping is the time between pings to another replica, and pingTimeout how long one may take.
	ping, pingTimeout time.Duration
	// silence is how long a replica may send no ping until it is asked to renew its Lease.
	silence time.Duration
	// shortLease is how long a Lease lasts after that, and shortFence how long a replica keeps its shards that hears no
	// answer.
	shortLease, shortFence time.Duration
}

// perReplica is the time that each replica adds to the renewal interval, so that all replicas together renew less than
// once a second.
const perReplica = 1020 * time.Millisecond

// longestLook is the longest interval between checks, whatever Options.LeaseDuration is.
const longestLook = 2 * time.Second

func timingsFor(duration time.Duration) timings {
	// A replica that stops or joins is noticed quickly, even if the Leases last long.
	look := min(duration/15, longestLook)
	return timings{
		lease:   (duration * 13 / 15).Truncate(time.Second),
		fence:   (duration * 13 / 15).Truncate(time.Second) - duration/20,
		look:    look,
		retry:   look / 2,
		contend: look / 20,
		request: 2 * look,

		ping: duration / 30, pingTimeout: duration / 15, silence: duration / 10,
		shortLease: duration * 3 / 20, shortFence: duration * 2 / 15,
	}
}

// renewal is the time between the renewals of one of some replicas. The more there are, the longer it is, and the less
// is left for further attempts: of the default 15 s, 8 s with two replicas and 2 s with ten or more.
func (t timings) renewal(replicas int) time.Duration {
	return min(max(t.lease/3, time.Duration(replicas)*perReplica), t.fence*5/6)
}
