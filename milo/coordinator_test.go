// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, testenv.Options{CRDPaths: []string{"milo/crds/resourcemanager.miloapis.com_projects.yaml"}}))
}

// testShards is the number of shards in tests.
const testShards = 6

// process is a replica as the coordinator sees it. After kill, it writes nothing.
type process struct {
	provider *Provider
	dead     atomic.Bool
	stop     context.CancelFunc
	ended    chan struct{}
}

// startProcess starts a replica.
func startProcess(t *testing.T, namespace, name string, lease time.Duration) *process {
	t.Helper()
	return startProcessWith(t, namespace, name, lease, testenv.Config(t))
}

// startProcessWith starts a replica with its own way to Milo.
func startProcessWith(t *testing.T, namespace, name string, lease time.Duration, root *rest.Config) *process {
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
		List: func(ctx context.Context, c client.WithWatch, o client.ObjectList, options ...client.ListOption) error {
			if p.dead.Load() {
				return dead
			}
			return c.List(ctx, o, options...)
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
	if p.provider, err = NewProvider(ProviderOptions{Root: root, Scheme: scheme, Shards: testShards}); err != nil {
		t.Fatal(err)
	}
	coordinator := NewCoordinator(p.provider, CoordinatorOptions{
		Client: killable, Namespace: namespace, Replica: name, LeaseDuration: lease, Clock: clock.RealClock{}, Log: logr.Discard(),
	})
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	go func() {
		defer close(p.ended)
		if err := coordinator.Runnable().Start(ctx); err != nil {
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

// kill ends a replica without a last write.
func (p *process) kill() {
	p.dead.Store(true)
	p.end()
}

func (p *process) owns() []int {
	p.provider.mu.RLock()
	defer p.provider.mu.RUnlock()
	return slices.Sorted(maps.Keys(p.provider.owned))
}

// divided waits until every shard has one owner, each replica has some shards, and the record agrees.
func divided(t *testing.T, namespace string, replicas map[string]*process) {
	t.Helper()
	hub := newHubClient(t)
	var problem error
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		problem = divisionOf(ctx, hub, namespace, replicas)
		return problem == nil, nil
	}); err != nil {
		t.Fatal(problem)
	}
}

func divisionOf(ctx context.Context, hub client.Client, namespace string, replicas map[string]*process) error {
	owned, count := map[string][]int{}, 0
	for name, replica := range replicas {
		owned[name] = replica.owns()
		count += len(owned[name])
		if len(owned[name]) == 0 {
			return fmt.Errorf("replica %s has no shard", name)
		}
	}
	if count != testShards {
		return fmt.Errorf("%d shards have owners: %v", count, owned)
	}
	var record coordinationv1.Lease
	if err := hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "karmada-compute-shards"}, &record); err != nil {
		return err
	}
	var recorded map[string][]int
	if err := json.Unmarshal([]byte(record.Annotations["compute.datumapis.com/shards"]), &recorded); err != nil {
		return err
	}
	if !maps.EqualFunc(owned, recorded, slices.Equal) {
		return fmt.Errorf("the shards are %v, and the record says %v", owned, recorded)
	}
	return nil
}

func newHubClient(t *testing.T) client.Client {
	t.Helper()
	hub, err := client.New(testenv.Config(t), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return hub
}

// hubNamespace returns a namespace in which replicas have run before, so that the replicas of the test wait for no earlier record.
func hubNamespace(t *testing.T) string {
	t.Helper()
	hub := newHubClient(t)
	namespace := testenv.Namespace(t, hub, "shards").Name
	record := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: v1alpha.LeaseShards,
		Labels: map[string]string{v1alpha.AnnotationShards: ""}, Annotations: map[string]string{v1alpha.AnnotationShards: "{}"},
	}}
	if err := hub.Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	return namespace
}

// TestKilledReplica: the other replica gets its shards. Package shards tests the maximum time of that.
func TestKilledReplica(t *testing.T) {
	namespace := hubNamespace(t)
	one, two := startProcess(t, namespace, "one", 3*time.Second), startProcess(t, namespace, "two", 3*time.Second)
	divided(t, namespace, map[string]*process{"one": one, "two": two})
	one.kill()
	divided(t, namespace, map[string]*process{"two": two})
}

// TestRestartedReplica: a replica that was killed a moment ago has its shards back at once, although its Lease would
// last an hour, and takes none of another replica that runs.
func TestRestartedReplica(t *testing.T) {
	namespace := hubNamespace(t)
	one, two := startProcess(t, namespace, "one", time.Minute), startProcess(t, namespace, "two", time.Minute)
	divided(t, namespace, map[string]*process{"one": one, "two": two})
	had := one.owns()
	one.kill()
	again := startProcess(t, namespace, "one", time.Hour)
	divided(t, namespace, map[string]*process{"one": again, "two": two})
	if has := again.owns(); !slices.Equal(has, had) {
		t.Errorf("it has %v, and had %v", has, had)
	}
}

// TestStoppedReplica: a stopped replica releases its shards at once, although its Lease would outlast this test.
func TestStoppedReplica(t *testing.T) {
	namespace := hubNamespace(t)
	one, two := startProcess(t, namespace, "one", time.Hour), startProcess(t, namespace, "two", time.Minute)
	divided(t, namespace, map[string]*process{"one": one, "two": two})
	one.end()
	divided(t, namespace, map[string]*process{"two": two})
}
