// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

func (s *simulated) setReach(reach Reach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reach = reach
}

// loses lets a replica lose Milo after some time, as package milo reports it: Doubtful first.
func (s *simulated) loses(after time.Duration) {
	time.AfterFunc(after, func() { s.setReach(Doubtful) })
	time.AfterFunc(after+15*time.Second, func() { s.setReach(Unreached) })
}

// finds has a replica find Milo again.
func (s *simulated) finds(after time.Duration) {
	time.AfterFunc(after, func() { s.setReach(Doubtful) })
	time.AfterFunc(after+15*time.Second, func() { s.setReach(Reached) })
}

// awaits waits until the replicas have so many shards each.
func (w *world) awaits(within time.Duration, want map[string]int) {
	w.t.Helper()
	for begin := time.Now(); ; <-time.After(10 * time.Millisecond) {
		counts, err := w.division()
		if err == nil && maps.Equal(counts, want) {
			return
		}
		if time.Since(begin) > within {
			w.t.Fatalf("after %s: %v, %v, want %v", within, counts, err, want)
		}
	}
}

// TestCutOff: only one replica loses Milo. The others get its shards as soon as it reports that, and it gets its share
// again when it recovers.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(3)
		w.replicas[0].loses(0)
		<-time.After(14 * time.Second)
		w.settled(0)
		w.awaits(5*time.Second, map[string]int{"replica-0": 0, "replica-1": 8, "replica-2": 8})
		before := w.record()
		<-time.After(5 * time.Minute)
		if after := w.record(); after.ResourceVersion != before.ResourceVersion {
			t.Error("the division changes while a replica is cut off")
		}
		w.replicas[0].finds(0)
		<-time.After(14 * time.Second)
		w.awaits(0, map[string]int{"replica-0": 0, "replica-1": 8, "replica-2": 8})
		w.settled(5 * time.Second)
		w.verdict()
	})
}

// TestMiloIsAway: all replicas lose Milo, and reach it again, each some seconds earlier or later, and no shard moves.
// The result is the same if a replica had been cut off before.
func TestMiloIsAway(t *testing.T) {
	for _, cut := range []bool{false, false, true, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 16, usual)
			w.settle(3)
			lose := w.replicas
			if cut {
				w.replicas[0].loses(0)
				<-time.After(time.Minute)
				lose = lose[1:]
			}
			before := w.record()
			counts, err := w.division()
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range lose {
				s.loses(time.Duration(i) * rand.N(3*time.Second))
			}
			<-time.After(time.Minute)
			if after := w.record(); after.ResourceVersion != before.ResourceVersion {
				t.Error("shards move when Milo goes")
			}
			for _, s := range w.replicas {
				s.finds(rand.N(4 * time.Second))
			}
			<-time.After(13 * time.Second)
			w.awaits(0, counts)
			<-time.After(time.Minute)
			// The replica that was cut off has its share again.
			w.settled(0)
			if after := w.record(); !cut && after.ResourceVersion != before.ResourceVersion {
				t.Error("shards move when Milo is back")
			}
			w.verdict()
		})
	}
}

// TestNobodyElseIsLeft: a replica that is cut off gets all shards again when the other replicas end.
func TestNobodyElseIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(2)
		w.replicas[0].loses(0)
		w.awaits(20*time.Second, map[string]int{"replica-0": 0, "replica-1": 16})
		w.replicas[1].kill()
		w.awaits(15*time.Second, map[string]int{"replica-0": 16})
		w.verdict()
	})
}

// TestTheStartOfWhoIsCutOff: a replica that has never been answered leaves its shards at once, and one that is alone
// keeps them.
func TestTheStartOfWhoIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(1)
		w.start("new").setReach(Unreached)
		<-time.After(5 * time.Second)
		w.awaits(0, map[string]int{"replica-0": 16, "new": 0})
		w.replicas[0].setReach(Unreached)
		<-time.After(time.Minute)
		w.awaits(0, map[string]int{"replica-0": 16, "new": 0})
		w.verdict()
	})
}
