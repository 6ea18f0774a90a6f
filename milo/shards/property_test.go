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

// TestNoTwoOwners: replicas are killed, stopped, paused, cut off from the hub or from its answers, requests take up to
// 8 s and arrive long after their timeout, and Leases are deleted. No shard ever has two owners. When all faults end,
// each shard has one owner.
func TestNoTwoOwners(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &faults{random: rand.New(rand.NewPCG(seed, 1)), usual: 10 * time.Millisecond}
				if seed%2 == 0 {
					f.usual = 300 * time.Millisecond
				}
				f.world = newWorld(t, 16, f.latency)
				for range 2 + f.random.IntN(4) {
					f.join()
				}
				for range 60 {
					f.next()
					<-time.After(between(f.random, 100*time.Millisecond, 12*time.Second))
				}
				f.heal()
				// Each may be in a request that takes 8 s, and a replica may have been killed just now.
				f.settled(45 * time.Second)
				f.verdict()
			})
		})
	}
}

// TestComesBack: a replica cannot reach the hub about as long as its Lease lasts, and the other one takes its shards,
// or does not, at the moment at which it is back.
func TestComesBack(t *testing.T) {
	for _, slow := range []time.Duration{0, 600 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			f := &faults{random: rand.New(rand.NewPCG(1, 1))}
			f.world = newWorld(t, 4, func() time.Duration {
				if slow > 0 && f.random.IntN(3) == 0 {
					return between(f.random, slow/2, slow)
				}
				return between(f.random, time.Millisecond, 10*time.Millisecond)
			})
			f.settle(2)
			for range 60 {
				s := f.replicas[f.random.IntN(2)]
				f.refuse(s, true)
				<-time.After(between(f.random, 12*time.Second, 14500*time.Millisecond))
				f.refuse(s, false)
				f.settled(30 * time.Second)
				// It is in some phase of its renewals.
				<-time.After(between(f.random, 0, 5*time.Second))
			}
			f.verdict()
		})
	}
}

func (f *faults) refuse(s *simulated, refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.refused = refused
}

// faults are the faults of a world.
type faults struct {
	*world
	random *rand.Rand
	// usual is the maximum duration of most requests and answers.
	usual  time.Duration
	joined int
	healed bool
}

// latency is called with w.mu held.
func (f *faults) latency() time.Duration {
	if !f.healed && f.random.IntN(20) == 0 {
		return between(f.random, time.Second, 8*time.Second)
	}
	return between(f.random, time.Millisecond, f.usual)
}

func (f *faults) join() {
	f.joined++
	f.start(fmt.Sprintf("replica-%d", f.joined))
}

// next has one thing happen, to one replica mostly.
func (f *faults) next() {
	f.mu.Lock()
	s := f.replicas[f.random.IntN(len(f.replicas))]
	what, flag, stopped := f.random.IntN(14), f.random.IntN(2) == 0, s.paused != nil
	f.mu.Unlock()
	switch {
	case stopped:
		s.resume()
	case what < 3:
		s.pause()
	case what < 5:
		s.kill()
		if flag {
			f.start(s.name)
		} else {
			f.join()
		}
	case what < 6:
		s.end()
		f.join()
	case what < 7:
		f.remove(recordName)
	case what < 8:
		f.remove(leasePrefix + s.name)
	case what < 10:
		f.mu.Lock()
		defer f.mu.Unlock()
		s.deaf = !s.deaf
	default:
		f.mu.Lock()
		defer f.mu.Unlock()
		if flag {
			s.refused = !s.refused
		} else {
			s.lost = !s.lost
		}
	}
}

// remove deletes a Lease behind the replicas' backs.
func (f *faults) remove(name string) {
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = namespace, name
	if err := client.IgnoreNotFound(f.hub.Delete(f.t.Context(), lease)); err != nil {
		f.t.Error(err)
	}
}

// heal ends all that is wrong.
func (f *faults) heal() {
	f.mu.Lock()
	f.healed = true
	var paused []*simulated
	for _, s := range f.replicas {
		s.refused, s.lost, s.deaf = false, false, false
		if s.paused != nil {
			paused = append(paused, s)
		}
	}
	f.mu.Unlock()
	for _, s := range paused {
		s.resume()
	}
}
