// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// SliceFindings are what the audit has found to be wrong on the ways of slices for too long, for those who show it: to judge all slices
// at each change of an Instance would be too much. It is safe for concurrent use.
type SliceFindings struct {
	mu    sync.Mutex
	of    map[mcreconcile.Request][]Finding
	queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]
}

// NewSliceFindings returns SliceFindings without any.
func NewSliceFindings() *SliceFindings {
	return &SliceFindings{of: map[mcreconcile.Request][]Finding{}}
}

// Source is a source of requests for deployments of whose slices there is something else to show.
func (f *SliceFindings) Source() source.TypedSource[mcreconcile.Request] {
	return source.TypedFunc[mcreconcile.Request](func(_ context.Context, queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.queue = queue
		for deployment := range f.of {
			queue.Add(deployment)
		}
		return nil
	})
}

// Set replaces the findings of the slices of a deployment by those among findings.
func (f *SliceFindings) Set(deployment mcreconcile.Request, findings []Finding) {
	var now []Finding
	for i := range findings {
		if findings[i].Slice != "" {
			now = append(now, findings[i])
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.of[deployment]
	delete(f.of, deployment)
	if len(now) > 0 {
		f.of[deployment] = now
	}
	same := slices.EqualFunc(before, now, func(a, b Finding) bool { return a.Key() == b.Key() && a.Since.Equal(b.Since) })
	if !same && f.queue != nil {
		f.queue.Add(deployment)
	}
}

// Forget drops the findings in a project that this replica has given up. Nobody is told: who has it now says what there is to show.
func (f *SliceFindings) Forget(project multicluster.ClusterName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.of, func(deployment mcreconcile.Request, _ []Finding) bool { return deployment.ClusterName == project })
}

// Of are the findings of the slices of a deployment.
func (f *SliceFindings) Of(deployment mcreconcile.Request) []Finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.of[deployment])
}
