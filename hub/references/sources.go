// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"fmt"
	"sync"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/transforms"
)

// projectSources are the ConfigMaps and Secrets of one engaged project. They are a source of events that watches nothing until a
// deployment of the project names an object.
type projectSources struct {
	projects.Engagement

	mu sync.Mutex
	// metadata is a cache separate from the project's, so that a kind that cannot be watched does not delay other
	// controllers; nil until a deployment names an object.
	metadata cache.Cache
	watched  map[string]cache.Informer
	// named are the objects that the deployments of a namespace name; events of other objects are dropped.
	named map[string]map[templates.DataObject]bool
	// checks are the last checks, by object.
	checks map[item]check
	// listings are the last lists of hub namespaces, and changes the number of changes since.
	listings map[string]listing
	changes  map[string]int
}

// check is the result of the last check of an object.
type check struct {
	// source is the version of the object in the project.
	source string
	finding
	// copied is the version of the copy that matched this source, or "".
	copied string
}

// version returns a string that identifies a state of an object. It also distinguishes an object from a later one of
// the same name.
func version(obj client.Object) string { return string(obj.GetUID()) + "/" + obj.GetResourceVersion() }

func newSources(e projects.Engagement) *projectSources {
	return &projectSources{
		Engagement: e, watched: map[string]cache.Informer{}, named: map[string]map[templates.DataObject]bool{}, checks: map[item]check{},
		listings: map[string]listing{}, changes: map[string]int{},
	}
}

// expect replaces the objects that the deployments of a namespace name, and starts to watch their kinds.
func (p *projectSources) expect(namespace string, named map[templates.DataObject]bool) error {
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
		metadata, err := cache.New(p.Cluster.GetConfig(), cache.Options{
			HTTPClient: p.Cluster.GetHTTPClient(), Scheme: p.Cluster.GetScheme(), Mapper: p.Cluster.GetRESTMapper(),
			DefaultTransform: transforms.OnlyIdentity, DefaultNamespaces: projects.CacheNamespaces(p.Cluster),
		})
		if err != nil {
			return fmt.Errorf("make a cache for what deployments name: %w", err)
		}
		p.metadata = metadata
		// It ends with the engagement. No code waits for its sync: until then objects are read one by one.
		go func() { _ = metadata.Start(p.Context) }()
	}
	informer, err := p.metadata.GetInformer(p.Context, metadataOf(kind), cache.BlockUntilSynced(false))
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
	named := p.named[changed.GetNamespace()][templates.DataObject{Kind: kind, Name: changed.GetName()}]
	p.mu.Unlock()
	if named {
		p.Queue.Add(request(p.Project, changed.GetNamespace()))
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
