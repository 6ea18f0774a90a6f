// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// Changes returns a source of requests for all deployments of each engaged project that changes. subscribe is called
// with a function that takes the name of such a project and returns at once.
func Changes(engaged Engaged, subscribe func(func(project string))) source.TypedSource[mcreconcile.Request] {
	return source.TypedFunc[mcreconcile.Request](func(ctx context.Context,
		queue workqueue.TypedRateLimitingInterface[mcreconcile.Request],
	) error {
		Follow(ctx, subscribe, func(project string) {
			for _, request := range deploymentsOf(ctx, engaged, multicluster.ClusterName(project)) {
				queue.Add(request)
			}
		})
		return nil
	})
}

// Follow calls f with each project that changes, one after the other, until ctx ends. It returns at once: f may wait
// for a cache.
func Follow(ctx context.Context, subscribe func(func(project string)), f func(project string)) {
	changed := workqueue.NewTyped[string]()
	context.AfterFunc(ctx, changed.ShutDown)
	subscribe(changed.Add)
	go func() {
		for {
			project, ended := changed.Get()
			if ended {
				return
			}
			f(project)
			changed.Done(project)
		}
	}()
}

// MeteringChanges returns the Changes of projects that begin, or cease, to need quota. metering may be nil: no project
// needs quota.
func MeteringChanges(engaged Engaged, metering Metering) source.TypedSource[mcreconcile.Request] {
	return Changes(engaged, func(f func(project string)) {
		if metering != nil {
			metering.OnChange(f)
		}
	})
}

// deploymentsOf returns requests for all deployments of a project; none if this replica has not engaged it: it
// reconciles them all when it does.
func deploymentsOf(ctx context.Context, engaged Engaged, project multicluster.ClusterName) []mcreconcile.Request {
	found, err := engaged.Get(ctx, project)
	if err != nil {
		return nil
	}
	return All(ctx, project, found, &v1alpha.WorkloadDeploymentList{})
}

// All returns a request for each object of a list, which it reads from a project's cache.
func All(ctx context.Context, name multicluster.ClusterName, project cluster.Cluster, list client.ObjectList) []mcreconcile.Request {
	var requests []mcreconcile.Request
	for _, request := range pace.All(ctx, project.GetClient(), list) {
		requests = append(requests, mcreconcile.Request{ClusterName: name, Request: request})
	}
	return requests
}

// Sweep periodically finds deletions that the watch missed.
type Sweep struct {
	// Purpose describes the deletions in logs.
	Purpose string
	// Interval is the minimum time between two sweeps, and Jitter the maximum of the random addition, as a fraction of
	// Interval.
	Interval time.Duration
	Jitter   float64
	// Find returns requests for the objects to reconcile. It should read only caches.
	Find func(context.Context) ([]mcreconcile.Request, error)
}

// Source returns a source of the requests that the sweep finds.
func (s Sweep) Source() source.TypedSource[mcreconcile.Request] {
	return source.TypedFunc[mcreconcile.Request](func(ctx context.Context,
		queue workqueue.TypedRateLimitingInterface[mcreconcile.Request],
	) error {
		go wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
			requests, err := s.Find(ctx)
			if err != nil {
				log.FromContext(ctx).Error(err, "A sweep is repeated later", "for", s.Purpose, "after", s.Interval)
			}
			for _, request := range requests {
				queue.Add(request)
			}
		}, s.Interval, s.Jitter, true)
		return nil
	})
}
