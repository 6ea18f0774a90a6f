// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// followTimeout is how long the Workload may take to reach a state.
	followTimeout = 3 * time.Minute
	// gather is how long changes are collected before the tree is shown again. Conditions, counts and Instances of one
	// event arrive as several changes within a few milliseconds.
	gather = 100 * time.Millisecond
	// tick is how often the clock on a terminal is updated while nothing changes.
	tick = time.Second
)

var errTooLate = errors.New("timed out")

// projectWatch watches a project's Workload as the consumer.
type projectWatch struct {
	cache ctrlcache.Cache
	// changed holds a token while there are changes that have not been shown.
	changed chan struct{}
}

// watchProject starts watches that end with ctx, and waits until their caches are synced.
func (d *demo) watchProject(ctx context.Context) (*projectWatch, error) {
	config, err := d.federation.Config(project, consumer)
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	objects, err := ctrlcache.New(config, ctrlcache.Options{
		Scheme: scheme, DefaultNamespaces: map[string]ctrlcache.Config{namespace: {}},
	})
	if err != nil {
		return nil, fmt.Errorf("watch the project: %w", err)
	}
	w := &projectWatch{cache: objects, changed: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	go func() { ended <- objects.Start(ctx) }()
	for _, object := range []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}} {
		if err := w.watch(ctx, object); err != nil {
			return nil, fmt.Errorf("watch %T in the project: %w", object, err)
		}
	}
	if !objects.WaitForCacheSync(ctx) {
		return nil, errors.Join(errors.New("the caches of the project did not sync"), context.Cause(ctx))
	}
	select {
	case err := <-ended:
		return nil, fmt.Errorf("the watches of the project ended: %w", errors.Join(err, context.Cause(ctx)))
	default:
		return w, nil
	}
}

func (w *projectWatch) watch(ctx context.Context, object client.Object) error {
	informer, err := w.cache.GetInformer(ctx, object)
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.wake() },
		UpdateFunc: func(any, any) { w.wake() },
		DeleteFunc: func(any) { w.wake() },
	})
	return err
}

func (w *projectWatch) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// tree returns the cached state of the project.
func (w *projectWatch) tree(ctx context.Context) (*tree, error) {
	var (
		workloads   v1alpha.WorkloadList
		deployments v1alpha.WorkloadDeploymentList
		instances   v1alpha.InstanceList
	)
	for _, list := range []client.ObjectList{&workloads, &deployments, &instances} {
		if err := w.cache.List(ctx, list); err != nil {
			return nil, fmt.Errorf("read the cached state of the project: %w", err)
		}
	}
	result := &tree{deployments: deployments.Items, instances: instances.Items}
	if len(workloads.Items) > 0 {
		result.workload = &workloads.Items[0]
	}
	return result, nil
}

// followUntilReady follows the Workload until the project shows as many Instances as it asks for, all Ready.
func (d *demo) followUntilReady(ctx context.Context, instances int) error {
	start := time.Now()
	if err := d.follow(ctx, fmt.Sprintf("all %d Instances are Ready", instances), func(t *tree) bool {
		return t.workload != nil && wanted(t.workload) == instances && t.settled()
	}); err != nil {
		return err
	}
	d.screen.line("  all %d Instances are Ready in the project, %.1f s after the request", instances, time.Since(start).Seconds())
	return nil
}

// follow shows the project's tree as it changes, until done returns true.
func (d *demo) follow(ctx context.Context, goal string, done func(*tree) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, followTimeout, errTooLate)
	defer cancel()
	w, err := d.watchProject(ctx)
	if err != nil {
		return err
	}
	defer d.screen.end()
	for {
		current, err := w.tree(ctx)
		if err != nil {
			return err
		}
		d.screen.show(current.lines())
		if done(current) {
			return nil
		}
		if err := w.wait(ctx); err != nil {
			return notReached(goal, current, err)
		}
	}
}

// wait returns when something has changed or the clock is to be updated.
func (w *projectWatch) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(tick):
		return nil
	case <-w.changed:
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(gather):
		return nil
	}
}

// notReached returns an error with the last state of a tree that did not reach its goal in time.
func notReached(goal string, last *tree, cause error) error {
	if !errors.Is(cause, errTooLate) {
		return cause
	}
	problems := last.problems()
	if len(problems) == 0 {
		problems = last.lines()
	}
	return fmt.Errorf("timed out after %s, waiting until %s; %d of %d Instances in the project are Ready, last state:\n%s",
		followTimeout, goal, last.ready(), len(last.instances), indent(problems))
}
