// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// usual is the duration of a request without a fault.
func usual() time.Duration { return time.Millisecond + rand.N(20*time.Millisecond) }

// settle starts replicas and waits until they share the shards.
func (w *world) settle(replicas int) {
	w.t.Helper()
	for i := range replicas {
		w.start(fmt.Sprintf("replica-%d", i))
	}
	w.settled(time.Minute)
	// Each has renewed at least once since it knows all others.
	<-time.After(15 * time.Second)
}

// TestWritesAtRest: less than one write a second, however many shards there are, and only renewals.
func TestWritesAtRest(t *testing.T) {
	for _, shards := range []int{16, 64} {
		for _, replicas := range []int{2, 4, 10} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, shards, usual)
				for i := range replicas {
					w.start(fmt.Sprintf("replica-%d", i))
				}
				<-time.After(time.Minute)
				before := w.record()
				w.mu.Lock()
				w.writes = 0
				w.mu.Unlock()
				const minutes = 3
				<-time.After(minutes * time.Minute)
				w.mu.Lock()
				rate := float64(w.writes) / (minutes * 60)
				w.mu.Unlock()
				if most := timingsFor(15*time.Second).writes(replicas) * 1.02; rate > most || rate == 0 {
					t.Errorf("%d replicas with %d shards write %.2f times a second, and not %.2f", replicas, shards, rate, most)
				}
				if after := w.record(); after.ResourceVersion != before.ResourceVersion {
					t.Errorf("%d replicas with %d shards: the division was written at rest", replicas, shards)
				}
				w.verdict()
			})
		}
	}
}

func (w *world) record() *coordinationv1.Lease {
	w.t.Helper()
	record := &coordinationv1.Lease{}
	if err := w.hub.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: recordName}, record); err != nil {
		w.t.Fatal(err)
	}
	return record
}

// TestTakeover: the shards of a replica that was killed have other owners soon, whenever that was.
func TestTakeover(t *testing.T) {
	for _, replicas := range []int{2, 3, 10} {
		for after := range 4 {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 64, usual)
				w.settle(replicas)
				<-time.After(time.Duration(after) * 2700 * time.Millisecond)
				w.replicas[after%replicas].kill()
				if took := w.settled(15 * time.Second); took > 4500*time.Millisecond || took < 3*time.Second {
					t.Errorf("%d replicas: taken over after %s", replicas, took)
				}
				w.verdict()
			})
		}
	}
}

// TestTakeoverWithoutPings: replicas of earlier versions send no pings. The shards of one that was killed have other
// owners within --lease-duration.
func TestTakeoverWithoutPings(t *testing.T) {
	for _, replicas := range []int{2, 3, 10} {
		for after := range 4 {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 64, usual)
				w.noPings = true
				w.settle(replicas)
				<-time.After(time.Duration(after) * 2700 * time.Millisecond)
				w.replicas[after%replicas].kill()
				if took := w.settled(15 * time.Second); took < 2*time.Second {
					t.Errorf("taken over after %s: its Lease cannot have ended", took)
				}
				w.verdict()
			})
		}
	}
}

// TestTakeoverWritesOnce: the remaining replica takes all shards with one write, and deletes the Lease of the other.
func TestTakeoverWritesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(2)
		before := w.record()
		w.replicas[0].kill()
		w.settled(15 * time.Second)
		<-time.After(time.Minute)
		if after := w.record(); *after.Spec.LeaseTransitions != *before.Spec.LeaseTransitions+1 {
			t.Errorf("the record was written %d times", *after.Spec.LeaseTransitions-*before.Spec.LeaseTransitions)
		}
		var leases coordinationv1.LeaseList
		if err := w.hub.List(t.Context(), &leases); err != nil || len(leases.Items) != 2 {
			t.Errorf("%d Leases, %v", len(leases.Items), err)
		}
		w.verdict()
	})
}

// TestNoPath: replicas that suddenly do not reach each other keep their shards, and write not more than a few times
// because of it. Without the hub they have none soon, because each could be the only one that does not reach it.
func TestNoPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(2)
		before := w.record()
		each := func(do func(s *simulated)) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, s := range w.replicas {
				do(s)
			}
		}
		each(func(s *simulated) { s.deaf = true })
		w.mu.Lock()
		w.writes = 0
		w.mu.Unlock()
		<-time.After(time.Minute)
		w.mu.Lock()
		writes, most := w.writes, int(60*timingsFor(15*time.Second).writes(2))+5
		w.mu.Unlock()
		if writes > most {
			t.Errorf("%d writes in a minute without a path, and not %d", writes, most)
		}
		if after := w.record(); after.ResourceVersion != before.ResourceVersion {
			t.Error("shards have changed hands")
		}
		each(func(s *simulated) { s.deaf = false })
		<-time.After(10 * time.Second)
		each(func(s *simulated) { s.deaf, s.refused = true, true })
		<-time.After(2200 * time.Millisecond)
		if counts, _ := w.division(); counts["replica-0"]+counts["replica-1"] != 0 {
			t.Errorf("no replica reaches the hub or the other one, and they have %v", counts)
		}
		each(func(s *simulated) { s.deaf, s.refused = false, false })
		w.settled(5 * time.Second)
		w.verdict()
	})
}

// TestPaused: a replica that pauses for longer than it may be silent keeps its shards, or loses them before another one
// has them.
func TestPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(2)
		for step := range 20 {
			s := w.replicas[step%2]
			s.pause()
			<-time.After(time.Duration(step) * 300 * time.Millisecond)
			s.resume()
			w.settled(8 * time.Second)
			<-time.After(time.Duration(step) * 170 * time.Millisecond)
		}
		w.verdict()
	})
}

// TestHandover: the shards of a replica that stops have other owners at its next look, and one that joins gets its
// share.
func TestHandover(t *testing.T) {
	for _, replicas := range []int{2, 3, 10} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 16, usual)
			w.settle(replicas)
			w.replicas[0].end()
			if took := w.settled(time.Minute); took > 3*time.Second {
				t.Errorf("a replica of %d has stopped, and its shards have owners after %s", replicas, took)
			}
			w.start("another")
			if took := w.settled(time.Minute); took > 5*time.Second {
				t.Errorf("a replica has joined, and has its share after %s", took)
			}
			w.verdict()
		})
	}
}

// TestRestart: a replica that starts again under its name has its shards back at once.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(2)
		name := w.replicas[0].name
		w.replicas[0].kill()
		w.start(name)
		if took := w.settled(time.Minute); took > time.Second {
			t.Errorf("it has its shards back after %s", took)
		}
		w.verdict()
	})
}

// TestHubAway: replicas keep their shards while the hub does not answer for a moment, have none when their Leases end,
// and have them back when it answers.
func TestHubAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(2)
		refuse := func(refused bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, s := range w.replicas {
				s.refused = refused
			}
		}
		refuse(true)
		<-time.After(7 * time.Second)
		if _, err := w.division(); err != nil {
			t.Errorf("the hub was away for 7 s, and %v", err)
		}
		<-time.After(6 * time.Second)
		if counts, _ := w.division(); counts["replica-0"]+counts["replica-1"] != 0 {
			t.Errorf("the hub was away for 13 s, and the replicas have %v", counts)
		}
		<-time.After(time.Minute)
		refuse(false)
		if took := w.settled(time.Minute); took > 2*time.Second {
			t.Errorf("the shards have owners %s after the hub is back", took)
		}
		w.verdict()
	})
}

// TestOneName: of two processes that run with one name, the later one has the shards. The other one waits, and has them
// when it ends.
func TestOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 4, usual)
		first := w.start("one")
		<-time.After(time.Minute)
		second := w.start("one")
		<-time.After(time.Minute)
		if owned := first.replica.fence.shards(); len(owned) != 0 {
			t.Errorf("the first one has %v", owned)
		}
		if owned := second.replica.fence.shards(); len(owned) != 4 {
			t.Errorf("the second one has %v", owned)
		}
		second.kill()
		<-time.After(16 * time.Second)
		if owned := first.replica.fence.shards(); len(owned) != 4 {
			t.Errorf("the first one has %v after the second one was killed", owned)
		}
	})
}

// TestDeletedRecord: all shards are divided again, and none has two owners meanwhile, even if a replica does not notice
// the deletion.
func TestDeletedRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(3)
		w.mu.Lock()
		w.replicas[0].lost = true
		w.mu.Unlock()
		if err := w.hub.Delete(t.Context(), w.record()); err != nil {
			t.Fatal(err)
		}
		<-time.After(30 * time.Second)
		w.mu.Lock()
		w.replicas[0].lost = false
		w.mu.Unlock()
		w.settled(time.Minute)
		w.verdict()
	})
}

// TestDeletedLeases: all Leases are deleted, the record among them. No shard has two owners meanwhile, whether all replicas notice,
// one does not, or another one starts just then.
func TestDeletedLeases(t *testing.T) {
	for _, refused := range []int{0, 1, 2} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 16, usual)
			w.settle(3)
			cutOff := func(is bool) {
				w.mu.Lock()
				defer w.mu.Unlock()
				for _, s := range w.replicas[:refused] {
					s.refused = is
				}
			}
			cutOff(true)
			if err := w.hub.DeleteAllOf(t.Context(), &coordinationv1.Lease{}, client.InNamespace(namespace)); err != nil {
				t.Fatal(err)
			}
			w.start("another")
			<-time.After(30 * time.Second)
			cutOff(false)
			w.settled(time.Minute)
			w.verdict()
		})
	}
}

// TestBlindReplica: a replica whose Lease is renewed and whose questions for the record are not answered stops its shards before
// others divide them by another record.
func TestBlindReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16, usual)
		w.settle(3)
		w.mu.Lock()
		w.replicas[0].blind = true
		w.mu.Unlock()
		if err := w.hub.Delete(t.Context(), w.record()); err != nil {
			t.Fatal(err)
		}
		<-time.After(30 * time.Second)
		if owned := w.replicas[0].replica.fence.shards(); len(owned) > 0 {
			t.Errorf("it has %v", owned)
		}
		w.verdict()
	})
}

// TestSlowHub: replicas keep their shards while the hub takes 2.4 s for each answer. Pings, which do not go through the hub, are left
// out.
func TestSlowHub(t *testing.T) {
	for _, replicas := range []int{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 16, usual)
			w.noPings = true
			w.settle(replicas)
			w.mu.Lock()
			w.latency = func() time.Duration { return 1200 * time.Millisecond }
			w.mu.Unlock()
			for range 60 {
				<-time.After(time.Second)
				if _, err := w.division(); err != nil {
					t.Fatalf("%d replicas: %v", replicas, err)
				}
			}
			w.verdict()
		})
	}
}

// TestTakenAway: a replica stops the shards that the record assigns to another replica, and gets them back when the
// other's Lease has ended.
func TestTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 4, usual)
		w.settle(1)
		lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: new(int32(5))}}
		lease.Namespace, lease.Name, lease.Labels = namespace, leasePrefix+"somebody", labels
		if err := w.hub.Create(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		record := w.record()
		record.Annotations[annotationDivision] = `{"replica-0":[0],"somebody":[1,2,3]}`
		if err := w.hub.Update(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		<-time.After(1500 * time.Millisecond)
		// Its share of four shards is two, and no other is free.
		if owned := w.replicas[0].replica.fence.shards(); len(owned) != 1 || owned[0] != 0 {
			t.Errorf("it has %v", owned)
		}
		w.settled(6 * time.Second)
		w.verdict()
	})
}
