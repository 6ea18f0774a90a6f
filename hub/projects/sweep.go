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

// Sweep looks for what no event tells of: what went while nobody looked.
type Sweep struct {
	// For is what it looks for, as a log names it.
	For string
	// Interval is the least time between two looks, and Jitter how much longer it may be, as a part of it.
	Interval time.Duration
	Jitter   float64
	// Find returns what is to be reconciled. It ought to read caches alone.
	Find func(context.Context) ([]mcreconcile.Request, error)
}

// Source is a source of requests for what the sweep finds.
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
