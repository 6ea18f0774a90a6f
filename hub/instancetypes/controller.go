// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instancetypes

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-instancetypes"

// Reconciler offers the hub's types in every project that this replica has engaged, and in the others when they are
// visited. It is safe for concurrent use.
//
// A project gets no watch for them: a consumer's changes of a copy are reverted by the next resync, and no controller
// reads the copies.
type Reconciler struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Types are the hub's types.
	Types *Catalogue
	// Visits are visits to the projects that no replica has engaged. Nil: projects are not visited.
	Visits projects.Visits
}

// resync is the interval at which the copies in a project are compared.
const resync = 30 * time.Minute

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	options.Reconciler = mcreconcile.NewClusterNotFoundWrapper(wrap(r.Reconcile))
	controller, err := mccontroller.New("instancetypes", mgr, options)
	if err != nil {
		return err
	}
	if r.Visits != nil {
		r.offerAtVisits(r.Visits)
	}
	return controller.MultiClusterWatch(NewChanges(r.Types, thisProject))
}

// thisProject requests the project itself.
func thisProject(_ context.Context, name multicluster.ClusterName, _ cluster.Cluster) []mcreconcile.Request {
	return []mcreconcile.Request{{ClusterName: name}}
}

// List returns the requests for a project when the types have changed.
type List func(ctx context.Context, name multicluster.ClusterName, project cluster.Cluster) []mcreconcile.Request

// Changes is a source of requests for every engaged project: when it is engaged, and when the types have changed.
type Changes struct {
	list List

	mu       sync.Mutex
	projects map[*engaged]struct{}
}

// engaged is a project that gets requests.
type engaged struct {
	name    multicluster.ClusterName
	cluster cluster.Cluster
	// wake has an entry if the types have changed since the last requests.
	wake chan struct{}
}

// NewChanges returns a source of the requests that list returns.
func NewChanges(types interface{ OnChange(f func()) }, list List) *Changes {
	c := &Changes{list: list, projects: map[*engaged]struct{}{}}
	types.OnChange(c.wake)
	return c
}

// wake requests every project.
func (c *Changes) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for project := range c.projects {
		select {
		case project.wake <- struct{}{}:
		default:
		}
	}
}

// ForCluster implements the source of a multicluster controller.
func (c *Changes) ForCluster(name multicluster.ClusterName, cl cluster.Cluster) (source.TypedSource[mcreconcile.Request], bool, error) {
	start := func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]) error {
		project := &engaged{name: name, cluster: cl, wake: make(chan struct{}, 1)}
		project.wake <- struct{}{}
		c.mu.Lock()
		c.projects[project] = struct{}{}
		c.mu.Unlock()
		go c.run(ctx, project, queue)
		return nil
	}
	return source.TypedFunc[mcreconcile.Request](start), true, nil
}

// run adds the requests of a project until ctx, its engagement, ends.
func (c *Changes) run(ctx context.Context, project *engaged, queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.projects, project)
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-project.wake:
			for _, request := range c.list(ctx, project.name, project.cluster) {
				queue.Add(request)
			}
		}
	}
}
