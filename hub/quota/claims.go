// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// claims are the add-on's ResourceClaims in the projects that this replica has engaged. It is a source of events that watches
// nothing in a project until a deployment there needs quota.
type claims struct {
	// forgotten is called with a project that is disengaged.
	forgotten func(multicluster.ClusterName)

	mu       sync.Mutex
	projects map[multicluster.ClusterName]*projectClaims
}

// projectClaims are the claims of one project. They end when the project is disengaged.
type projectClaims struct {
	name    multicluster.ClusterName
	cluster cluster.Cluster
	// ctx ends with the engagement.
	ctx   context.Context //nolint:containedctx // the life of the cache that is started later.
	queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]

	mu sync.Mutex
	// cache is one beside that of the project, so that a Milo without quota delays no other controller; nil until it is needed.
	cache    cache.Cache
	informer cache.Informer
}

// ForCluster implements the source of a multicluster controller: it starts the claims of a project when it is engaged.
func (c *claims) ForCluster(name multicluster.ClusterName, cl cluster.Cluster) (source.TypedSource[mcreconcile.Request], bool, error) {
	start := func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]) error {
		project := &projectClaims{name: name, cluster: cl, ctx: ctx, queue: queue}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.projects == nil {
			c.projects = map[multicluster.ClusterName]*projectClaims{}
		}
		c.projects[name] = project
		context.AfterFunc(ctx, func() { c.forget(project) })
		return nil
	}
	return source.TypedFunc[mcreconcile.Request](start), true, nil
}

func (c *claims) forget(project *projectClaims) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.projects[project.name] == project {
		delete(c.projects, project.name)
		c.forgotten(project.name)
	}
}

// of are the claims of a project, or nil when it is not engaged.
func (c *claims) of(project multicluster.ClusterName) *projectClaims {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.projects[project]
}

// watch starts to watch the claims, once.
func (p *projectClaims) watch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.informer != nil {
		return nil
	}
	ours, err := labels.NewRequirement(v1alpha.LabelDeploymentName, selection.Exists, nil)
	if err != nil {
		return fmt.Errorf("select the claims of the add-on: %w", err)
	}
	if p.cache == nil {
		if p.cache, err = cache.New(p.cluster.GetConfig(), cache.Options{
			HTTPClient: p.cluster.GetHTTPClient(), Scheme: p.cluster.GetScheme(), Mapper: p.cluster.GetRESTMapper(),
			DefaultTransform: cache.TransformStripManagedFields(), DefaultLabelSelector: labels.NewSelector().Add(*ours),
		}); err != nil {
			return fmt.Errorf("make a cache for the project's ResourceClaims: %w", err)
		}
		// It ends with the engagement. Nothing waits for its sync: until then claims are listed.
		go func() { _ = p.cache.Start(p.ctx) }()
	}
	informer, err := p.cache.GetInformer(p.ctx, &quota.ResourceClaim{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the project's ResourceClaims: %w", err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    p.observe,
		UpdateFunc: func(_, obj any) { p.observe(obj) },
		DeleteFunc: p.observe,
	}); err != nil {
		return fmt.Errorf("watch the project's ResourceClaims: %w", err)
	}
	p.informer = informer
	return nil
}

func (p *projectClaims) observe(obj any) {
	if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	if claim, ok := obj.(client.Object); ok {
		p.queue.Add(mcreconcile.Request{ClusterName: p.name, Request: reconcile.Request{NamespacedName: types.NamespacedName{
			Namespace: claim.GetNamespace(), Name: claim.GetLabels()[v1alpha.LabelDeploymentName],
		}}})
	}
}

// reader reads the claims from the cache. It is nil until the cache has synced.
func (p *projectClaims) reader() client.Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.informer == nil || !p.informer.HasSynced() {
		return nil
	}
	return p.cache
}
