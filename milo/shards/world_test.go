// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const namespace = "hub"

// world is a hub and replicas in simulated time. Create it in a bubble of testing/synctest, where all clocks are
// simulated.
type world struct {
	t      *testing.T
	hub    client.WithWatch
	shards int
	// latency is the time that a request takes to the hub, and an answer back.
	latency func() time.Duration

	// requests are in flight.
	requests sync.WaitGroup

	mu       sync.Mutex
	replicas []*simulated
	writes   int
	// found are the moments at which a shard had two owners.
	found []string
	// noPings says that processes are of a version without pings.
	noPings bool
}

// simulated is a process. Its requests can be held back, and so can its clock: then it is a process that is paused.
type simulated struct {
	*world
	name    string
	replica *Replica
	stop    context.CancelFunc
	ended   chan struct{}

	// Guarded by world.mu.
	dead, refused, lost bool
	// blind says that its questions for all Leases are not answered.
	blind bool
	// deaf says that no ping reaches it, and none of its own reaches another process.
	deaf bool
	// paused is closed when the process continues. Nil: it is not paused.
	paused chan struct{}
	owned  map[int]context.Context
	reach  Reach
}

func newWorld(t *testing.T, shards int, latency func() time.Duration) *world {
	t.Helper()
	w := &world{t: t, hub: newHub(), shards: shards, latency: latency}
	t.Cleanup(w.close)
	return w
}

// close ends all processes and requests, for which the bubble waits.
func (w *world) close() {
	for _, s := range slices.Clone(w.replicas) {
		if s.paused != nil {
			s.resume()
		}
		s.end()
	}
	w.requests.Wait()
}

// start starts a process with a name.
func (w *world) start(name string) *simulated {
	ctx, stop := context.WithCancel(w.t.Context())
	s := &simulated{world: w, name: name, stop: stop, ended: make(chan struct{}), owned: map[int]context.Context{}, reach: Reached}
	var peers Peers = s
	if w.noPings {
		peers = nil
	}
	s.replica = New(Options{
		Peers: peers, Client: s.client(), Namespace: namespace, Name: name, Count: w.shards, LeaseDuration: 15 * time.Second,
		Own: s.own, Reach: s.reaches, Clock: pausable{clock.RealClock{}, s}, Log: logr.Discard(),
	})
	w.mu.Lock()
	w.replicas = append(w.replicas, s)
	w.mu.Unlock()
	go func() {
		defer close(s.ended)
		_ = s.replica.Run(ctx)
	}()
	return s
}

func (s *simulated) reaches() Reach {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reach
}

// own notes that a process has got a shard, and whether another one still has it.
func (s *simulated) own(ctx context.Context, shard int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned[shard] = ctx //nolint:fatcontext // the context is the ownership
	s.check()
}

// check records which shards have two owners. A paused process does nothing, and is checked when it continues. w.mu is
// held.
func (w *world) check() {
	owner := map[int]string{}
	for _, s := range w.replicas {
		for shard, ctx := range s.owned {
			if ctx.Err() != nil || s.dead || s.paused != nil {
				continue
			}
			if other, found := owner[shard]; found {
				w.found = append(w.found, fmt.Sprintf("%s: shard %d is %s's and %s's", time.Now().Format(time.TimeOnly), shard, other, s.name))
			}
			owner[shard] = s.name
		}
	}
}

// end stops a process gracefully.
func (s *simulated) end() {
	s.stop()
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas = slices.DeleteFunc(s.replicas, func(other *simulated) bool { return other == s })
}

// kill ends a process without a last write.
func (s *simulated) kill() {
	s.mu.Lock()
	s.dead = true
	s.mu.Unlock()
	s.end()
}

func (s *simulated) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = make(chan struct{})
}

func (s *simulated) resume() {
	s.mu.Lock()
	paused := s.paused
	s.paused = nil
	s.mu.Unlock()
	close(paused)
	// The process has run everything that was due when it continued; it must have noticed that its time is over.
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check()
}

// goesOn waits until the process is not paused.
func (s *simulated) goesOn() {
	s.mu.Lock()
	paused := s.paused
	s.mu.Unlock()
	if paused != nil {
		<-paused
	}
}

// pausable is the clock of a process: timers that fire during a pause run when the process continues.
type pausable struct {
	clock.RealClock
	process *simulated
}

func (c pausable) AfterFunc(d time.Duration, f func()) clock.Timer {
	return c.RealClock.AfterFunc(d, func() {
		c.process.goesOn()
		f()
	})
}

var (
	errRefused = errors.New("connection refused")
	errDead    = errors.New("killed")
)

// call sends a request to the hub. It is answered some time later, or not. The request arrives even if the caller no
// longer waits for it.
func (s *simulated) call(ctx context.Context, isWrite bool, do func() error) error {
	s.goesOn()
	s.mu.Lock()
	dead, refused, there, back := s.dead, s.refused, s.latency(), s.latency()
	s.mu.Unlock()
	if dead || refused {
		return errors.Join(errDead, errRefused)
	}
	answer := make(chan error, 1)
	s.requests.Go(func() {
		<-time.After(there)
		err := do()
		s.mu.Lock()
		if isWrite && err == nil {
			s.writes++
		}
		lost := s.lost
		s.mu.Unlock()
		<-time.After(back)
		if !lost {
			answer <- err
		}
	})
	select {
	case err := <-answer:
		s.goesOn()
		return err
	case <-ctx.Done():
		s.goesOn()
		return ctx.Err()
	}
}

func (s *simulated) isBlind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blind
}

// Endpoint implements Peers.
func (s *simulated) Endpoint() string { return fmt.Sprintf("%p", s) }

// Ping implements Peers. A ping arrives some time later, also when its sender does not wait any more.
func (s *simulated) Ping(ctx context.Context, endpoint string, ping Ping) error {
	s.goesOn()
	s.mu.Lock()
	there, back, silent := s.latency(), s.latency(), s.dead || s.deaf
	index := slices.IndexFunc(s.replicas, func(other *simulated) bool { return other.Endpoint() == endpoint })
	if silent || index < 0 || s.replicas[index].deaf {
		s.mu.Unlock()
		return errRefused
	}
	other := s.replicas[index]
	s.mu.Unlock()
	answer := make(chan error, 1)
	s.requests.Go(func() {
		<-time.After(there)
		other.goesOn()
		s.mu.Lock()
		dead := other.dead
		s.mu.Unlock()
		if dead {
			return
		}
		accepted := other.replica.Hear(ping)
		<-time.After(back)
		switch accepted {
		case Accepted:
			answer <- nil
		case Asked:
			answer <- ErrAsked
		case Refused:
			answer <- errRefused
		}
	})
	select {
	case err := <-answer:
		s.goesOn()
		return err
	case <-ctx.Done():
		s.goesOn()
		return ctx.Err()
	}
}

// client returns the client of a process.
func (s *simulated) client() client.Client {
	return interceptor.NewClient(s.hub, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			return s.exchange(ctx, into, false, func(o client.Object) error { return c.Get(s.t.Context(), key, o) })
		},
		List: func(ctx context.Context, c client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			answer := into.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // it is a copy
			if s.isBlind() {
				return errRefused
			}
			if err := s.call(ctx, false, func() error { return c.List(s.t.Context(), answer, options...) }); err != nil {
				return err
			}
			answer.(*coordinationv1.LeaseList).DeepCopyInto(into.(*coordinationv1.LeaseList)) //nolint:forcetypeassert // nothing else is listed
			return nil
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			return s.exchange(ctx, o, true, func(o client.Object) error {
				o.SetUID(uuid.NewUUID())
				return c.Create(s.t.Context(), o)
			})
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, _ ...client.UpdateOption) error {
			return s.exchange(ctx, o, true, func(o client.Object) error { return c.Update(s.t.Context(), o) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return s.exchange(ctx, o, true, func(o client.Object) error { return c.Delete(s.t.Context(), o, options...) })
		},
	})
}

// exchange calls do with a copy of the object, as the hub receives it, and returns the hub's answer.
func (s *simulated) exchange(ctx context.Context, o client.Object, isWrite bool, do func(client.Object) error) error {
	sent := o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // it is a copy
	if err := s.call(ctx, isWrite, func() error { return do(sent) }); err != nil {
		return err
	}
	sent.(*coordinationv1.Lease).DeepCopyInto(o.(*coordinationv1.Lease)) //nolint:forcetypeassert // there is nothing else on this hub
	return nil
}

// division is the number of shards of each replica. It returns an error if a shard has no owner.
func (w *world) division() (map[string]int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	owner, counts := map[int]string{}, map[string]int{}
	for _, s := range w.replicas {
		counts[s.name] = 0
		for shard, ctx := range s.owned {
			if ctx.Err() == nil {
				owner[shard] = s.name
				counts[s.name]++
			}
		}
	}
	if len(owner) != w.shards {
		return counts, fmt.Errorf("%d of %d shards have an owner: %v", len(owner), w.shards, counts)
	}
	return counts, nil
}

// settled waits until every shard has an owner and all have equally many, and returns how long that took.
func (w *world) settled(within time.Duration) time.Duration {
	w.t.Helper()
	for begin := time.Now(); ; <-time.After(10 * time.Millisecond) {
		counts, err := w.division()
		if err == nil {
			low, high := w.shards, 0
			for _, count := range counts {
				low, high = min(low, count), max(high, count)
			}
			if high-low > 1 {
				err = fmt.Errorf("the shards are not divided evenly: %v", counts)
			}
		}
		if err == nil {
			return time.Since(begin)
		}
		if time.Since(begin) > within {
			w.t.Fatalf("after %s %v", within, err)
		}
	}
}

// verdict fails the test if a shard ever had two owners.
func (w *world) verdict() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, found := range w.found {
		w.t.Error(found)
	}
}

// between returns random times, equally probable.
func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)))
}
