// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/sharded/sharder"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// testShards is the number of shards in tests.
const testShards = 6

// process is a replica as far as the coordinator is concerned. Once it is killed it writes nothing any more.
type process struct {
	provider *Provider
	dead     atomic.Bool
	stop     context.CancelFunc
	ended    chan struct{}
}

// startProcess starts a replica.
func startProcess(t *testing.T, namespace, name string, lease time.Duration) *process {
	t.Helper()
	p := &process{ended: make(chan struct{})}
	dead := errors.New("killed")
	hub, err := client.NewWithWatch(testenv.Config(t), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	killable := interceptor.NewClient(hub, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, name client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if p.dead.Load() {
				return dead
			}
			return c.Get(ctx, name, o, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if p.dead.Load() {
				return dead
			}
			return c.Update(ctx, o, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			if p.dead.Load() {
				return dead
			}
			return c.Delete(ctx, o, options...)
		},
	})
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if p.provider, err = NewProvider(ProviderOptions{Root: testenv.Config(t), Scheme: scheme, Shards: testShards}); err != nil {
		t.Fatal(err)
	}
	coordinator := NewCoordinator(p.provider, CoordinatorOptions{
		Client: killable, Namespace: namespace, Replica: name, LeaseDuration: lease, Clock: clock.RealClock{}, Log: logr.Discard(),
	})
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	for _, shard := range shardNames(testShards) {
		if err := coordinator.Engage(ctx, shard, nil); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(p.ended)
		if err := coordinator.Runnable().Start(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	t.Cleanup(p.end)
	return p
}

// end stops a replica gracefully.
func (p *process) end() {
	p.stop()
	<-p.ended
}

// kill ends a replica without that it could tell anybody.
func (p *process) kill() {
	p.dead.Store(true)
	p.end()
}

func (p *process) owns() []multicluster.ClusterName {
	p.provider.mu.RLock()
	defer p.provider.mu.RUnlock()
	return slices.Sorted(maps.Keys(p.provider.owned))
}

// divided waits until every shard has one owner, and the Lease of each shard names it.
func divided(t *testing.T, namespace string, replicas map[string]*process) {
	t.Helper()
	hub, err := client.New(testenv.Config(t), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	var problem error
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		problem = divisionOf(ctx, hub, namespace, replicas)
		return problem == nil, nil
	}); err != nil {
		t.Fatal(problem)
	}
}

func divisionOf(ctx context.Context, hub client.Client, namespace string, replicas map[string]*process) error {
	owner := map[multicluster.ClusterName]string{}
	for name, replica := range replicas {
		for _, shard := range replica.owns() {
			owner[shard] += name
		}
	}
	for _, shard := range shardNames(testShards) {
		var lease coordinationv1.Lease
		if err := hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: shardLeasePrefix + "-" + shard.String()}, &lease); err != nil {
			return err
		}
		if holder := *lease.Spec.HolderIdentity; holder == "" || holder != owner[shard] {
			return fmt.Errorf("shard %s is owned by %q, and its Lease held by %q", shard, owner[shard], holder)
		}
	}
	for name, replica := range replicas {
		if len(replica.owns()) == 0 {
			return fmt.Errorf("replica %s has no shard", name)
		}
	}
	return nil
}

func hubNamespace(t *testing.T) string {
	t.Helper()
	hub, err := client.New(testenv.Config(t), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return testenv.Namespace(t, hub, "shards").Name
}

// TestKilledReplica: its shards go to the other one. How long that takes at most is in TestTimings.
func TestKilledReplica(t *testing.T) {
	namespace := hubNamespace(t)
	one, two := startProcess(t, namespace, "one", 3*time.Second), startProcess(t, namespace, "two", 3*time.Second)
	divided(t, namespace, map[string]*process{"one": one, "two": two})
	one.kill()
	divided(t, namespace, map[string]*process{"two": two})
}

// TestRestartedReplica: a replica that was killed a moment ago has its shards back at once, although its Leases would last an hour,
// and takes none of another replica that runs.
func TestRestartedReplica(t *testing.T) {
	hub, err := client.New(testenv.Config(t), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := testenv.Namespace(t, hub, "shards").Name
	lease := func(name, holder string, labels map[string]string) {
		t.Helper()
		if err := hub.Create(t.Context(), &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &holder, LeaseDurationSeconds: new(int32(3600)), AcquireTime: new(metav1.NowMicro()), RenewTime: new(metav1.NowMicro()),
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	replicas := []sharder.PeerInfo{{ID: "one", Weight: 1}, {ID: "two", Weight: 1}}
	var had []multicluster.ClusterName
	for _, shard := range shardNames(testShards) {
		holder := "two"
		if sharder.NewHRW().ShouldOwn(shard.String(), replicas, replicas[0]) {
			holder, had = "one", append(had, shard)
		}
		lease(shardLeasePrefix+"-"+shard.String(), holder, nil)
	}
	for _, replica := range replicas {
		lease(peerLeasePrefix+"-"+replica.ID, replica.ID, peerLabels)
	}
	if len(had) == 0 || len(had) == testShards {
		t.Fatalf("one has %d of %d shards", len(had), testShards)
	}
	again := startProcess(t, namespace, "one", time.Minute)
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 3*time.Minute, true, func(context.Context) (bool, error) {
		return slices.Equal(again.owns(), had), nil
	}); err != nil {
		t.Errorf("it has %v, and had %v", again.owns(), had)
	}
}

// TestStoppedReplica: its Leases are gone at once.
func TestStoppedReplica(t *testing.T) {
	namespace := hubNamespace(t)
	one, two := startProcess(t, namespace, "one", time.Minute), startProcess(t, namespace, "two", time.Minute)
	divided(t, namespace, map[string]*process{"one": one, "two": two})
	one.end()
	divided(t, namespace, map[string]*process{"two": two})
}

// TestMembership: who counts as a running replica.
func TestMembership(t *testing.T) {
	now := testclock.NewFakeClock(time.Now().Truncate(time.Second))
	hub := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build()
	member := func(name string) *membership {
		return newPeers(CoordinatorOptions{Client: hub, Namespace: "hub", Replica: name, LeaseDuration: 15 * time.Second, Clock: now, Log: logr.Discard()})
	}
	one, two := member("one"), member("two")
	sees := func(m *membership) string {
		t.Helper()
		if err := m.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, peer := range m.Snapshot() {
			names = append(names, peer.ID)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	renew := func(m *membership) {
		t.Helper()
		if err := m.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := sees(one); got != "one" {
		t.Errorf("alone it sees %q", got)
	}
	renew(one)
	renew(two)
	if got := sees(one); got != "one two" {
		t.Errorf("it sees %q", got)
	}
	now.Step(10 * time.Second)
	renew(one)
	if got := sees(one); got != "one two" {
		t.Errorf("at the end of a Lease it sees %q", got)
	}
	now.Step(time.Millisecond)
	if got := sees(one); got != "one" {
		t.Errorf("after the end of a Lease it sees %q", got)
	}
	now.Step(forgetAfter)
	renew(one)
	if err := one.removeStale(t.Context()); err != nil {
		t.Fatal(err)
	}
	if leases, err := one.list(t.Context()); err != nil || len(leases) != 1 || leases[0].Name != one.leaseName() {
		t.Errorf("%d Leases, %v", len(leases), err)
	}
	one.leave(t.Context())
	if leases, err := one.list(t.Context()); err != nil || len(leases) != 0 {
		t.Errorf("%d Leases, %v", len(leases), err)
	}
}
