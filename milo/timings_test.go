// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"testing"
	"time"
)

// TestTimings: whatever --lease-duration is, a killed replica's shards are taken over by then, and a replica that runs has several
// attempts to renew its Leases.
func TestTimings(t *testing.T) {
	for _, lease := range []time.Duration{3 * time.Second, 4 * time.Second, 5500 * time.Millisecond, 10 * time.Second, 15 * time.Second, time.Minute, 7 * time.Minute} {
		at := timingsFor(lease)
		if worst := at.worstTakeover(); worst > lease-lease/15 {
			t.Errorf("%s: taken over after up to %s, without the time of requests", lease, worst)
		}
		if at.peer < time.Second || at.shard < at.peer || at.peerRenewal > at.peer/3 || at.shardRenewal > at.shard/2 || at.look <= 0 || at.decision <= 0 || at.shardRetry <= 0 {
			t.Errorf("%s: %+v", lease, at)
		}
		if at.peer%time.Second != 0 || at.shard%time.Second != 0 {
			t.Errorf("%s: Leases have no fractions of seconds: %+v", lease, at)
		}
	}
	// 16 Leases of shards each 5 s and 2 of replicas each 10 s were 3.4.
	if rate := timingsFor(15*time.Second).writes(16, 2); rate > 3.4 {
		t.Errorf("%.1f writes a second by default", rate)
	}
}
