// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

const interval = 5 * time.Second

// network answers the questions of a Prober. It is in a bubble of synctest, in which only waiting takes time.
type network struct {
	mu sync.Mutex
	// down are the addresses and cities that do not answer, and broken the ones that refuse at once. cut: the replica reaches nothing.
	down, broken map[string]bool
	cut          bool
	// asked counts the questions by address, and most at once. times are when the questions began.
	asked      map[string]int
	now, most  int
	times      []time.Time
	leaveNorth context.CancelFunc
	requests   queue
	*Prober
}

// start starts a Prober that has engaged projects north and south, until the test ends. prepare changes it before.
func start(t *testing.T, prepare ...func(*network)) *network {
	t.Helper()
	n := &network{
		Prober: New(Options{Interval: interval, Clock: clock.RealClock{}}),
		down:   map[string]bool{}, broken: map[string]bool{}, asked: map[string]int{},
		requests: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]()),
	}
	n.question = n.answer
	for _, f := range prepare {
		f(n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n.engage(t, ctx, "south")
	north, leave := context.WithCancel(ctx)
	n.leaveNorth = leave
	n.engage(t, north, "north")
	var running sync.WaitGroup
	running.Go(func() {
		if err := n.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		n.requests.ShutDown()
	})
	return n
}

func (n *network) engage(t *testing.T, ctx context.Context, project multicluster.ClusterName) {
	t.Helper()
	source, _, err := n.ForCluster(project, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Start(ctx, n.requests); err != nil {
		t.Fatal(err)
	}
}

// answer is the question of the Prober.
func (n *network) answer(ctx context.Context, r *record) outcome {
	n.mu.Lock()
	n.asked[r.Address]++
	n.times = append(n.times, time.Now())
	n.now++
	n.most = max(n.most, n.now)
	down := n.cut || n.down[r.Address] || n.down[r.City]
	refuses := n.broken[r.Address]
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.now--
	}()
	wait := 20 * time.Millisecond
	if down {
		wait = timeout
	}
	select {
	case <-ctx.Done():
		return notAsked
	case <-time.After(wait):
	}
	if down || refuses {
		return failed
	}
	return answered
}

// change changes the network, and lets time pass.
func (n *network) change(f func(), pass time.Duration) {
	n.mu.Lock()
	f()
	n.mu.Unlock()
	time.Sleep(pass)
	synctest.Wait()
}

func (n *network) pass(d time.Duration) { n.change(func() {}, d) }

// until lets time pass until a condition is true, and returns how long that took.
func (n *network) until(t *testing.T, condition func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !condition() {
		if n.pass(tick); time.Since(began) > time.Hour {
			t.Fatal("it does not become true in an hour")
		}
	}
	return time.Since(began)
}

func workload(project multicluster.ClusterName, name string) mcreconcile.Request {
	return mcreconcile.Request{ClusterName: project, Request: reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}}
}

// of are targets with addresses of a city: one of each number from first to last.
func of(city string, first, last int) (targets []Target) {
	for i := first; i <= last; i++ {
		targets = append(targets, Target{City: city, Address: fmt.Sprintf("%s-%d", city, i), Ports: [2]int32{80}})
	}
	return targets
}

// requested are the Workloads that were requested since.
func (n *network) requested() (names []string) {
	synctest.Wait()
	for n.requests.Len() > 0 {
		request, _ := n.requests.Get()
		n.requests.Done(request)
		names = append(names, request.Name)
	}
	slices.Sort(names)
	return names
}

func (n *network) want(t *testing.T, want Answer, targets ...Target) {
	t.Helper()
	for _, target := range targets {
		if got := n.state(target); got != want {
			t.Errorf("%s is %d, want %d", target.Address, got, want)
		}
	}
}

// state is the answer of targets without its time.
func (p *Prober) state(targets ...Target) Answer {
	answer, _ := p.Answer(targets...)
	return answer
}
