// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"testing"
	"time"
)

// TestTimings: within any --lease-duration, a killed replica's shards are taken over, a replica stops before its Lease
// ends, and it has several attempts to renew the Lease.
func TestTimings(t *testing.T) {
	for _, duration := range []time.Duration{
		3 * time.Second, 4 * time.Second, 5500 * time.Millisecond, 10 * time.Second, 15 * time.Second, time.Minute, 7 * time.Minute,
	} {
		at := timingsFor(duration)
		if worst := at.worstTakeover(); worst > duration-duration/15 {
			t.Errorf("%s: taken over after up to %s, without the time of requests", duration, worst)
		}
		if at.lease < time.Second || at.lease%time.Second != 0 || at.fence >= at.lease || at.look <= 0 || at.retry <= 0 || at.contend <= 0 {
			t.Errorf("%s: %+v", duration, at)
		}
		for replicas := 1; replicas <= 20; replicas++ {
			if left := at.fence - at.renewal(replicas); left < 3*at.retry {
				t.Errorf("%s: a replica of %d has only %s for further attempts", duration, replicas, left)
			}
		}
	}
}

// TestWrites: with the default, up to ten replicas write less than once a second.
func TestWrites(t *testing.T) {
	at := timingsFor(15 * time.Second)
	for replicas := 1; replicas <= 10; replicas++ {
		if rate := at.writes(replicas); rate >= 1 {
			t.Errorf("%d replicas write %.2f times a second", replicas, rate)
		}
	}
	if rate := at.writes(2); rate > 0.5 {
		t.Errorf("the usual two replicas write %.2f times a second", rate)
	}
}

// worstTakeover is the longest time until the shards of a killed replica have another owner, without the duration of
// requests. The replica is killed just after it has renewed its Lease, which the others see at their next check. They
// check again when the Lease ends.
func (t timings) worstTakeover() time.Duration { return t.look + t.lease }

// writes is the rate of writes to the hub in a second, at rest.
func (t timings) writes(replicas int) float64 {
	return float64(replicas) / t.renewal(replicas).Seconds()
}
