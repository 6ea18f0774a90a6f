// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// requestTimeout bounds a consumer's request.
	requestTimeout = 30 * time.Second
	// retryDelay is the delay before a consumer retries a failed request, or checks again for an object that still exists.
	retryDelay = 500 * time.Millisecond
)

// consumer executes the operations of a plan. It is safe for concurrent use.
type consumer struct {
	// namespaceIn returns the namespace of the Workloads in a project.
	namespaceIn func(project string) string
	projects    map[string]client.Client
	clock       clock.Clock
	printf      func(format string, args ...any)

	mu     sync.Mutex
	wanted map[Name]*Wanted
	// pending counts the operations on each Workload that are not done.
	pending map[Name]int
	// setBack are the projects that go back to a backup, or have gone.
	setBack   map[string]bool
	done      int
	latencies []time.Duration
	failures  []error
}

// run executes operations at their times. Operations on one Workload run in order, and on different Workloads in
// parallel. It returns when all are done or ctx ends.
func (c *consumer) run(ctx context.Context, begin time.Time, operations []Operation) {
	queues := map[Name]chan Operation{}
	var workers sync.WaitGroup
	for _, operation := range operations {
		if !sleepUntil(ctx, c.clock, begin.Add(operation.At)) {
			break
		}
		queue := queues[operation.Name]
		if queue == nil {
			queue = make(chan Operation, len(operations))
			queues[operation.Name] = queue
			workers.Go(func() {
				for next := range queue {
					c.do(ctx, next)
				}
			})
		}
		c.mu.Lock()
		c.wanted[operation.Name] = operation.Wanted
		c.pending[operation.Name]++
		c.mu.Unlock()
		queue <- operation
	}
	for _, queue := range queues {
		close(queue)
	}
	workers.Wait()
}

// sleepUntil reports whether a time has come before ctx ended.
func sleepUntil(ctx context.Context, c clock.Clock, at time.Time) bool {
	timer := c.NewTimer(at.Sub(c.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}

// do executes one operation. It repeats a failed operation, as a consumer would, until ctx ends; each failure is
// counted.
func (c *consumer) do(ctx context.Context, operation Operation) {
	for first := true; ctx.Err() == nil; first = false {
		if (operation.Verb == Create && first || operation.Verb != Delete && c.isSetBack(operation.Project)) &&
			!c.awaitGone(ctx, operation.Name) {
			return
		}
		begin := c.clock.Now()
		request, cancel := context.WithTimeout(ctx, requestTimeout)
		err := c.request(request, operation)
		cancel()
		// After a failure without an answer, the existing object may be the one that the request created.
		if !first && operation.Verb == Create {
			err = client.IgnoreAlreadyExists(err)
		}
		if ctx.Err() != nil || c.note(operation, c.clock.Since(begin), err) {
			return
		}
		if !sleepUntil(ctx, c.clock, c.clock.Now().Add(retryDelay)) {
			return
		}
	}
}

// note counts a request and reports whether it succeeded.
func (c *consumer) note(operation Operation, took time.Duration, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latencies = append(c.latencies, took)
	if err == nil {
		c.done++
		c.pending[operation.Name]--
		return true
	}
	err = fmt.Errorf("%s Workload %s in project %s: %w", operation.Verb, operation.Workload, operation.Project, err)
	c.failures = append(c.failures, err)
	c.printf("a request failed after %s: %v", took.Round(time.Millisecond), err)
	return false
}

// request sends the request of an operation.
func (c *consumer) request(ctx context.Context, operation Operation) error {
	project := c.projects[operation.Project]
	key := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespaceIn(operation.Project), Name: operation.Workload}}
	switch operation.Verb {
	case Create:
		err := c.create(ctx, operation)
		if apierrors.IsAlreadyExists(err) && c.isSetBack(operation.Project) {
			return c.patch(ctx, operation)
		}
		return err
	case Delete:
		return client.IgnoreNotFound(project.Delete(ctx, key))
	case Scale, Rollout, Move:
		err := c.patch(ctx, operation)
		if apierrors.IsNotFound(err) && c.isSetBack(operation.Project) {
			return c.create(ctx, operation)
		}
		return err
	}
	return fmt.Errorf("nobody knows how to %s", operation.Verb)
}

func (c *consumer) create(ctx context.Context, o Operation) error {
	return c.projects[o.Project].Create(ctx, o.Wanted.Workload(c.namespaceIn(o.Project), o.Workload))
}

func (c *consumer) patch(ctx context.Context, o Operation) error {
	wanted := o.Wanted.Workload(c.namespaceIn(o.Project), o.Workload)
	patch, err := json.Marshal(map[string]any{"spec": wanted.Spec})
	if err != nil {
		return err
	}
	return c.projects[o.Project].Patch(ctx, wanted, client.RawPatch(types.MergePatchType, patch))
}

// awaitAdmitted waits until admission in each project accepts the first Workload of a plan: it knows the instance types
// some seconds after they were created.
func (c *consumer) awaitAdmitted(ctx context.Context, operations []Operation) error {
	asked := map[string]bool{}
	for _, operation := range operations {
		if asked[operation.Project] || operation.Verb != Create {
			continue
		}
		asked[operation.Project] = true
		var refused error
		err := wait.PollUntilContextTimeout(ctx, retryDelay, time.Minute, true, func(ctx context.Context) (bool, error) {
			workload := operation.Wanted.Workload(c.namespaceIn(operation.Project), operation.Workload)
			refused = c.projects[operation.Project].Create(ctx, workload, client.DryRunAll)
			return refused == nil, nil
		})
		if err != nil {
			return fmt.Errorf("admission of project %s: %w", operation.Project, errors.Join(err, refused))
		}
	}
	return nil
}

// awaitGone waits until a deleted Workload no longer exists, or ctx ends. In a project that was set back, a Workload may
// exist that is not being deleted any more.
func (c *consumer) awaitGone(ctx context.Context, name Name) bool {
	err := wait.PollUntilContextCancel(ctx, retryDelay, true, func(ctx context.Context) (bool, error) {
		found := &v1alpha.Workload{}
		err := c.projects[name.Project].Get(ctx, client.ObjectKey{Namespace: c.namespaceIn(name.Project), Name: name.Workload}, found)
		if err != nil {
			return apierrors.IsNotFound(err), nil
		}
		return c.isSetBack(name.Project) && found.DeletionTimestamp == nil, nil
	})
	return err == nil
}

// wants returns the Workloads that the consumer presently wants in a project, by name. Deleted ones are nil.
func (c *consumer) wants(project string) map[string]*Wanted {
	c.mu.Lock()
	defer c.mu.Unlock()
	wanted := map[string]*Wanted{}
	for name, w := range c.wanted {
		if name.Project == project {
			wanted[name.Workload] = w
		}
	}
	return wanted
}

// removeAll deletes all Workloads and waits until they no longer exist.
func (c *consumer) removeAll(ctx context.Context) error {
	c.mu.Lock()
	names := slices.Collect(maps.Keys(c.wanted))
	c.mu.Unlock()
	var errs []error
	for _, name := range names {
		errs = append(errs, c.request(ctx, Operation{Verb: Delete, Name: name}))
	}
	for _, name := range names {
		if !c.awaitGone(ctx, name) {
			errs = append(errs, fmt.Errorf("Workload %s in project %s is not gone: %w", name.Workload, name.Project, context.Cause(ctx)))
		}
	}
	return errors.Join(errs...)
}

// percentile returns a percentile of the latencies of all requests.
func percentile(latencies []time.Duration, percent int) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(latencies))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
