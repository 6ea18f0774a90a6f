// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"fmt"
	"sync"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/transforms"
)

// sources are the ConfigMaps and Secrets in the projects that this replica has engaged. It is a source of events that
// watches nothing in a project until a deployment there names an object.
type sources struct {
	mu       sync.Mutex
	projects map[multicluster.ClusterName]*projectSources
}

// projectSources are the ConfigMaps and Secrets of one project. They end when the project is disengaged.
type projectSources struct {
	name    multicluster.ClusterName
	cluster cluster.Cluster
	// ctx ends with the engagement.
	ctx   context.Context //nolint:containedctx // the life of the caches that are started later.
	queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]

	mu sync.Mutex
	// metadata is a cache beside that of the project, so that a kind which cannot be watched does not delay other
	// controllers; nil until a deployment names an object.
	metadata cache.Cache
	watched  map[string]cache.Informer
	// named are the objects that the deployments of a namespace name; events of other objects are dropped.
	named map[string]map[v1alpha.DataObject]bool
	// checks are the last checks, by object.
	checks map[item]check
	// listings are what hub namespaces held when they were listed, and changes count the changes of each since.
	listings map[string]listing
	changes  map[string]int
}

// check is what the last check of an object found.
type check struct {
	// source is the version of the object in the project.
	source string
	finding
	// copied is the version of the copy that was right for this source, or "".
	copied string
}

// version identifies a state of an object. It also differs between an object and a later one of the same name.
func version(obj client.Object) string { return string(obj.GetUID()) + "/" + obj.GetResourceVersion() }

// ForCluster implements the source of a multicluster controller: it starts the sources of a project when it is engaged.
func (s *sources) ForCluster(name multicluster.ClusterName, cl cluster.Cluster) (source.TypedSource[mcreconcile.Request], bool, error) {
	start := func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]) error {
		project := &projectSources{
			name: name, cluster: cl, ctx: ctx, queue: queue,
			watched: map[string]cache.Informer{}, named: map[string]map[v1alpha.DataObject]bool{}, checks: map[item]check{},
			listings: map[string]listing{}, changes: map[string]int{},
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.projects == nil {
			s.projects = map[multicluster.ClusterName]*projectSources{}
		}
		s.projects[name] = project
		context.AfterFunc(ctx, func() { s.forget(project) })
		return nil
	}
	return source.TypedFunc[mcreconcile.Request](start), true, nil
}

func (s *sources) forget(project *projectSources) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.projects[project.name] == project {
		delete(s.projects, project.name)
	}
}

// of are the sources of a project, or nil when it is not engaged.
func (s *sources) of(project multicluster.ClusterName) *projectSources {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.projects[project]
}

// expect replaces the objects that the deployments of a namespace name, and starts to watch their kinds.
func (p *projectSources) expect(namespace string, named map[v1alpha.DataObject]bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(named) == 0 {
		delete(p.named, namespace)
		return nil
	}
	p.named[namespace] = named
	for one := range named {
		if err := p.watch(one.Kind); err != nil {
			return err
		}
	}
	return nil
}

// watch starts to watch a kind, once. p.mu must be held.
func (p *projectSources) watch(kind string) error {
	if p.watched[kind] != nil {
		return nil
	}
	if p.metadata == nil {
		metadata, err := cache.New(p.cluster.GetConfig(), cache.Options{
			HTTPClient: p.cluster.GetHTTPClient(), Scheme: p.cluster.GetScheme(), Mapper: p.cluster.GetRESTMapper(),
			DefaultTransform: transforms.OnlyIdentity,
		})
		if err != nil {
			return fmt.Errorf("make a cache for what deployments name: %w", err)
		}
		p.metadata = metadata
		// It ends with the engagement. Nothing waits for its sync: until then objects are read one by one.
		go func() { _ = metadata.Start(p.ctx) }()
	}
	informer, err := p.metadata.GetInformer(p.ctx, metadataOf(kind), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the %ss of the project: %w", kind, err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { p.observe(kind, obj) },
		UpdateFunc: func(_, obj any) { p.observe(kind, obj) },
		DeleteFunc: func(obj any) { p.observe(kind, obj) },
	}); err != nil {
		return fmt.Errorf("watch the %ss of the project: %w", kind, err)
	}
	p.watched[kind] = informer
	return nil
}

func (p *projectSources) observe(kind string, obj any) {
	if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	changed, ok := obj.(client.Object)
	if !ok {
		return
	}
	p.mu.Lock()
	named := p.named[changed.GetNamespace()][v1alpha.DataObject{Kind: kind, Name: changed.GetName()}]
	p.mu.Unlock()
	if named {
		p.queue.Add(request(p.name, changed.GetNamespace()))
	}
}

// reader reads the metadata of a kind from the cache. It is nil until the cache has synced.
func (p *projectSources) reader(kind string) client.Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if informer := p.watched[kind]; informer == nil || !informer.HasSynced() {
		return nil
	}
	return p.metadata
}

func (p *projectSources) lastCheck(i item) check {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checks[i]
}

func (p *projectSources) remember(i item, found check) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checks[i] = found
}

// forgetChecks drops the checks of objects that the deployments of a namespace no longer name.
func (p *projectSources) forgetChecks(hubNamespace string, keep map[item]*object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.checks {
		if i.hubNamespace == hubNamespace && keep[i] == nil {
			delete(p.checks, i)
		}
	}
}
