// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// shownInstances holds what the project shows of its Instances, and what it is expected to show. It is safe for
// concurrent use.
type shownInstances struct {
	mu       sync.Mutex
	ready    map[string]bool
	count    int
	expected map[string]expectation
	lag      *samples
	changed  chan struct{}
}

// expectation is a value of condition Ready and the time of its change.
type expectation struct {
	ready bool
	since time.Time
}

func newShownInstances() *shownInstances {
	return &shownInstances{ready: map[string]bool{}, expected: map[string]expectation{}, lag: &samples{}, changed: make(chan struct{}, 1)}
}

// followInstances watches the Instances of a project until ctx ends.
func followInstances(ctx context.Context, instances dynamic.ResourceInterface) *shownInstances {
	s := newShownInstances()
	note := func(obj any) {
		if shown, ok := obj.(*unstructured.Unstructured); ok {
			s.see(shown.GetName(), isReady(shown), time.Now())
		}
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return instances.List(ctx, options)
			},
			WatchFuncWithContext: instances.Watch,
		},
		ObjectType: &unstructured.Unstructured{},
		Handler:    cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) }},
		// Thousands of templates are not needed.
		Transform: func(obj any) (any, error) {
			if shown, ok := obj.(*unstructured.Unstructured); ok {
				unstructured.RemoveNestedField(shown.Object, "spec")
				shown.SetManagedFields(nil)
			}
			return obj, nil
		},
	})
	go informer.RunWithContext(ctx)
	return s
}

// see records what the project shows of an Instance.
func (s *shownInstances) see(instance string, ready bool, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.ready[instance]; before != ready {
		s.ready[instance] = ready
		if ready {
			s.count++
		} else {
			s.count--
		}
	}
	if wanted, ok := s.expected[instance]; ok && wanted.ready == ready {
		delete(s.expected, instance)
		s.lag.add(at.Sub(wanted.since))
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// expect begins to wait for what an Instance shall show. An expectation that it has already keeps its time.
func (s *shownInstances) expect(instance string, ready bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wanted, ok := s.expected[instance]; ok && wanted.ready == ready {
		return
	}
	s.expected[instance] = expectation{ready: ready, since: time.Now()}
}

// expects reports whether the project does not show yet what is expected of an Instance.
func (s *shownInstances) expects(instance string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.expected[instance]
	return ok
}

func (s *shownInstances) readyCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// reset forgets the lag of earlier changes.
func (s *shownInstances) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lag = &samples{}
}

// awaitAll waits until the project shows all that is expected.
func (s *shownInstances) awaitAll(ctx context.Context, deadline time.Duration) error {
	return s.await(ctx, deadline, func() (string, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for name := range maps.Keys(s.expected) {
			return fmt.Sprintf("%d changes are not shown, one of them of Instance %s", len(s.expected), name), false
		}
		return "", true
	})
}

// await waits until done, which it calls after each event.
func (s *shownInstances) await(ctx context.Context, deadline time.Duration, done func() (state string, reached bool)) error {
	ctx, stop := context.WithTimeout(ctx, deadline)
	defer stop()
	for {
		state, reached := done()
		if reached {
			return nil
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", state, ctx.Err())
		}
	}
}

// settled waits until the hub gets no more writes, as rest does, by its metrics: the audit log of thousands of
// deployments takes long to read.
func (b *scaleBench) settled(ctx context.Context) error {
	before := -1
	err := wait.PollUntilContextTimeout(ctx, unwritten, b.pausing, true, func(ctx context.Context) (bool, error) {
		count, err := b.writeRequests(ctx, hubPlane)
		if err != nil {
			return false, err
		}
		same := count == before
		before = count
		return same, nil
	})
	if err != nil {
		return fmt.Errorf("the hub is not at rest within %s: %w", b.pausing, err)
	}
	return nil
}

// isReady reports whether condition Ready of an object is True.
func isReady(object *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == "Ready" {
			return c["status"] == "True"
		}
	}
	return false
}
