// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// Engagements have what was found in a project forgotten when this replica gives it up. While another replica has the project nothing is
// heard of it: what was wrong before may have been put right when it comes back, and since when something is wrong is not known. It is a
// source of a multicluster controller, without any events.
type Engagements struct {
	// Forget drops what was found in a project. It must return at once.
	Forget func(project multicluster.ClusterName)

	mu      sync.Mutex
	present map[multicluster.ClusterName]context.Context
}

// ForCluster implements the source of a multicluster controller.
func (e *Engagements) ForCluster(project multicluster.ClusterName, _ cluster.Cluster) (source.TypedSource[mcreconcile.Request], bool, error) {
	return source.TypedFunc[mcreconcile.Request](func(ctx context.Context, _ workqueue.TypedRateLimitingInterface[mcreconcile.Request]) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.present == nil {
			e.present = map[multicluster.ClusterName]context.Context{}
		}
		e.present[project] = ctx //nolint:fatcontext // it says which engagement is the present one.
		// A reconcile that was going on when the earlier engagement ended may have found something since.
		e.Forget(project)
		context.AfterFunc(ctx, func() { e.end(ctx, project) })
		return nil
	}), true, nil
}

// end ends an engagement, unless a later one has begun.
func (e *Engagements) end(ctx context.Context, project multicluster.ClusterName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.present[project] == ctx {
		delete(e.present, project)
		e.Forget(project)
	}
}
