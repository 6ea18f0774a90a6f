// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// sources are the ConfigMaps and Secrets in the projects that this replica has engaged. It is a source of events that
// watches nothing in a project until a deployment of that project names something.
type sources struct {
	mu       sync.Mutex
	projects map[multicluster.ClusterName]*projectSources
}

// projectSources are the ConfigMaps and Secrets of one project. They go when the project is disengaged.
type projectSources struct {
	name    multicluster.ClusterName
	cluster cluster.Cluster
	// ctx ends with the engagement.
	ctx   context.Context //nolint:containedctx // the life of the caches that are started later.
	queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]

	mu sync.Mutex
	// metadata is a cache beside that of the project, so that a kind which cannot be watched keeps no other
	// controller waiting; nil until something is named.
	metadata cache.Cache
	watched  map[string]cache.Informer
	// named are the objects that deployments of a namespace name: events of others cost nothing.
	named map[string]map[reference]bool
	// looks are what was last seen of each object.
	looks map[item]look
}

// look is what was last seen of an object in the project and of its copy on the hub.
type look struct {
	// source is the version of the object in the project.
	source string
	finding
	// copied is the version of the copy that was right for this source.
	copied string
}

// version tells each state of each object from every other.
func version(obj client.Object) string { return string(obj.GetUID()) + "/" + obj.GetResourceVersion() }

// ForCluster is part of a multicluster source.
func (s *sources) ForCluster(name multicluster.ClusterName, cl cluster.Cluster) (source.TypedSource[mcreconcile.Request], bool, error) {
	start := func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]) error {
		project := &projectSources{
			name: name, cluster: cl, ctx: ctx, queue: queue,
			watched: map[string]cache.Informer{}, named: map[string]map[reference]bool{}, looks: map[item]look{},
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

// of are the sources of a project; nil when it is not engaged.
func (s *sources) of(project multicluster.ClusterName) *projectSources {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.projects[project]
}

// expect says what the deployments of a namespace name from now on, and has it watched.
func (p *projectSources) expect(namespace string, named map[reference]bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(named) == 0 {
		delete(p.named, namespace)
		return nil
	}
	p.named[namespace] = named
	for one := range named {
		if err := p.watch(one.kind); err != nil {
			return err
		}
	}
	return nil
}

// watch starts to watch a kind. p.mu is held.
func (p *projectSources) watch(kind string) error {
	if p.watched[kind] != nil {
		return nil
	}
	if p.metadata == nil {
		metadata, err := cache.New(p.cluster.GetConfig(), cache.Options{
			HTTPClient: p.cluster.GetHTTPClient(), Scheme: p.cluster.GetScheme(), Mapper: p.cluster.GetRESTMapper(),
			DefaultTransform: identityOnly,
		})
		if err != nil {
			return fmt.Errorf("make a cache for what deployments name: %w", err)
		}
		p.metadata = metadata
		// It ends with the engagement, and is never waited for: until it has synced, objects are read one by one.
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
	named := p.named[changed.GetNamespace()][reference{kind, changed.GetName()}]
	p.mu.Unlock()
	if named {
		p.queue.Add(request(p.name, changed.GetNamespace()))
	}
}

// reader reads the metadata of a kind, or is nil while that is not known.
func (p *projectSources) reader(kind string) client.Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if informer := p.watched[kind]; informer == nil || !informer.HasSynced() {
		return nil
	}
	return p.metadata
}

func (p *projectSources) lastLook(i item) look {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.looks[i]
}

func (p *projectSources) remember(i item, seen look) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks[i] = seen
}

// forgetLooks drops what was seen of objects that the deployments of a namespace no longer name.
func (p *projectSources) forgetLooks(hubNamespace string, keep map[item]*object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.looks {
		if i.hubNamespace == hubNamespace && keep[i] == nil {
			delete(p.looks, i)
		}
	}
}

// identityOnly keeps of an object's metadata what tells its versions apart. Annotations may hold all of a Secret: kubectl
// writes what it last applied there.
func identityOnly(obj any) (any, error) {
	if held, ok := obj.(client.Object); ok {
		held.SetManagedFields(nil)
		held.SetAnnotations(nil)
		held.SetLabels(nil)
		held.SetOwnerReferences(nil)
		held.SetFinalizers(nil)
	}
	return obj, nil
}

// key is the name of an object in a namespace of the project.
func (i item) key(namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: i.name}
}
