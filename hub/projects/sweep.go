// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// Sweep periodically finds deletions that the watch missed.
type Sweep struct {
	// For describes the deletions in logs.
	For string
	// Interval is the minimum time between two sweeps, and Jitter the maximum of the random addition, as a fraction of
	// Interval.
	Interval time.Duration
	Jitter   float64
	// Find returns requests for the objects to reconcile. It should read only caches.
	Find func(context.Context) ([]mcreconcile.Request, error)
}

// Source returns a source of the requests that the sweep finds.
func (s Sweep) Source() source.TypedSource[mcreconcile.Request] {
	return source.TypedFunc[mcreconcile.Request](func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]) error {
		go wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
			requests, err := s.Find(ctx)
			if err != nil {
				log.FromContext(ctx).Error(err, "A sweep is repeated later", "for", s.For, "after", s.Interval)
			}
			for _, request := range requests {
				queue.Add(request)
			}
		}, s.Interval, s.Jitter, true)
		return nil
	})
}
