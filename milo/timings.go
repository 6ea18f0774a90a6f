// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import "time"

// timings are the times of replicas and shards, in whole fifteenths of CoordinatorOptions.LeaseDuration: seconds, by default.
// Leases have whole seconds.
type timings struct {
	// peer is how long a replica counts as running after it has renewed its Lease.
	peer, peerRenewal time.Duration
	// look is the time between looks at the Leases of the other replicas.
	look time.Duration
	// decision is the time between decisions about who owns which shard.
	decision time.Duration
	// shard is how long a replica keeps the Lease of a shard after it has renewed it. It is longer than that of a peer: its
	// renewals are most of the writes.
	shard, shardRenewal time.Duration
	// shardRetry is the time between attempts to get the Lease of a shard that another replica holds.
	shardRetry time.Duration
}

func timingsFor(lease time.Duration) timings {
	t := timings{
		peer:       (lease * 10 / 15).Truncate(time.Second),
		look:       lease * 2 / 15,
		decision:   lease / 15,
		shard:      (lease * 12 / 15).Truncate(time.Second),
		shardRetry: lease / 15,
	}
	t.peerRenewal, t.shardRenewal = t.peer/3, t.shard/2
	return t
}

// worstTakeover is the longest time until the shards of a replica that was killed have another owner, without the time that
// requests take. The replica is killed just after it has renewed its Leases. The others see it gone at the look after its Lease has
// expired, decide, and then try for the Leases of its shards until these have expired.
func (t timings) worstTakeover() time.Duration {
	return max(t.peer+t.look+t.decision, t.shard+t.shardRetry+t.decision)
}

// writes is the rate of writes to the hub in a second.
func (t timings) writes(shards, replicas int) float64 {
	return float64(shards)/t.shardRenewal.Seconds() + float64(replicas)/t.peerRenewal.Seconds()
}
