// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo"
)

// kind is one informer of the shared cache, whose events go to the projects that they belong to. An informer calls each
// of its handlers with every event; so it has one handler, whatever the number of projects. All methods are safe for
// concurrent use.
type kind struct {
	// informer has the objects of all projects.
	informer toolscache.SharedIndexInformer

	// mu guards handlers. It is held while they are called: they add to work queues and read caches, and never wait.
	mu       sync.RWMutex
	handlers map[string][]*registration
}

// registration is a handler of a project.
type registration struct {
	kind    *kind
	project string
	handler toolscache.ResourceEventHandler
}

// HasSynced reports whether the handler has got the objects that there were. It gets them when it is added, from a
// cache that may not have all of them; the rest follows as events.
func (r *registration) HasSynced() bool { return r.kind.informer.HasSynced() }

// add adds a handler, and calls it with every object of the project.
func (k *kind) add(project string, handler toolscache.ResourceEventHandler) *registration {
	added := &registration{kind: k, project: project, handler: handler}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, obj := range k.objects(project) {
		handler.OnAdd(obj, true)
	}
	k.handlers[project] = append(k.handlers[project], added)
	return added
}

// objects returns a namespace's objects in the cache, whether the cache has synced or not. They must not be changed.
func (k *kind) objects(namespace string) []client.Object {
	// ByIndex fails only without the index, which every informer of the cache has.
	found, _ := k.informer.GetIndexer().ByIndex(toolscache.NamespaceIndex, namespace)
	objects := make([]client.Object, 0, len(found))
	for _, item := range found {
		if object, ok := item.(client.Object); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

// remove removes a handler. It may have been removed before.
func (k *kind) remove(old *registration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(k.handlers[old.project]), func(r *registration) bool { return r == old })
	if len(left) == 0 {
		delete(k.handlers, old.project)
		return
	}
	k.handlers[old.project] = left
}

// each calls f with the handlers of a project, or of all for "".
func (k *kind) each(project string, f func(toolscache.ResourceEventHandler)) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if project != "" {
		for _, r := range k.handlers[project] {
			f(r.handler)
		}
		return
	}
	for _, registered := range k.handlers {
		for _, r := range registered {
			f(r.handler)
		}
	}
}

// OnAdd passes an event on to the project of its object.
func (k *kind) OnAdd(obj any, initial bool) {
	k.each(namespaceOf(obj), func(h toolscache.ResourceEventHandler) { h.OnAdd(obj, initial) })
}

// OnUpdate passes an event on to the project of its object.
func (k *kind) OnUpdate(before, obj any) {
	k.each(namespaceOf(obj), func(h toolscache.ResourceEventHandler) { h.OnUpdate(before, obj) })
}

// OnDelete passes an event on to the project of its object.
func (k *kind) OnDelete(obj any) {
	k.each(namespaceOf(obj), func(h toolscache.ResourceEventHandler) { h.OnDelete(obj) })
}

// nowhere is the namespace of objects without one. No project has this name.
const nowhere = "."

// namespaceOf is the namespace of the object of an event.
func namespaceOf(obj any) string {
	if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	if object, ok := obj.(client.Object); ok && object.GetNamespace() != "" {
		return object.GetNamespace()
	}
	return nowhere
}

// watchKinds creates the informers for the kinds that controllers watch in projects. It sends no request.
func (p *Planes) watchKinds(ctx context.Context) error {
	p.kinds = map[string]*kind{}
	for _, object := range []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}} {
		watched, err := p.watchKind(ctx, object)
		if err != nil {
			return err
		}
		p.kinds[keyOf(object)] = watched
		if _, err := watched.informer.AddEventHandler(watched); err != nil {
			return fmt.Errorf("watch the %Ts of all projects: %w", object, err)
		}
	}
	return p.watchPlaces(ctx)
}

// watchKind creates the informer of a kind.
func (p *Planes) watchKind(ctx context.Context, object client.Object) (*kind, error) {
	informer, err := p.shared.GetCache().GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch the %Ts of the hub: %w", object, err)
	}
	indexed, ok := informer.(toolscache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("the informer of %T is a %T, which has no index", object, informer)
	}
	return &kind{informer: indexed, handlers: map[string][]*registration{}}, nil
}

// watchPlaces calls the handlers of LocationBindings when the cities of cells change, or the locations that a namespace
// may use.
func (p *Planes) watchPlaces(ctx context.Context) (err error) {
	if p.places, err = p.watchKind(ctx, &clusterv1alpha1.Cluster{}); err != nil {
		return err
	}
	p.kinds[keyOf(&milo.LocationBinding{})] = p.places
	changed := func(project string) {
		p.places.each(project, func(h toolscache.ResourceEventHandler) {
			h.OnUpdate(&milo.LocationBinding{}, &milo.LocationBinding{})
		})
	}
	if _, err := p.places.informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed("") },
		UpdateFunc: func(before, after any) {
			if cityOf(before) != cityOf(after) {
				changed("")
			}
		},
		DeleteFunc: func(any) { changed("") },
	}); err != nil {
		return fmt.Errorf("watch the cities of cells: %w", err)
	}
	informer, err := p.shared.GetCache().GetInformer(ctx, &corev1.Namespace{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the namespaces of the hub: %w", err)
	}
	// The label of a city is on the namespaces of cells' Works, and confirms it.
	confirms := func(namespace any) {
		if cityOf(namespace) != "" {
			changed("")
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: confirms, UpdateFunc: func(before, after any) {
		if cityOf(before) != cityOf(after) {
			changed("")
		}
		was, isNamespace := before.(*corev1.Namespace)
		now, ok := after.(*corev1.Namespace)
		if isNamespace && ok && was.Annotations[v1alpha.AnnotationCities] != now.Annotations[v1alpha.AnnotationCities] {
			changed(now.Name)
		}
	}}); err != nil {
		return fmt.Errorf("watch the cities of namespaces: %w", err)
	}
	return nil
}

func cityOf(cell any) string {
	if object, ok := cell.(client.Object); ok {
		return object.GetLabels()[v1alpha.LabelTopologyCity]
	}
	return ""
}

// keyOf is the key of a typed object's kind.
func keyOf(object client.Object) string { return fmt.Sprintf("%T", object) }

// scopedInformer is an informer with the events of a project alone.
type scopedInformer struct {
	*kind
	project string
}

var _ cache.Informer = &scopedInformer{}

// AddEventHandler adds a handler.
func (s *scopedInformer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return s.add(s.project, handler), nil
}

// AddEventHandlerWithResyncPeriod adds a handler. There is no resync.
func (s *scopedInformer) AddEventHandlerWithResyncPeriod(
	handler toolscache.ResourceEventHandler, _ time.Duration,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return s.add(s.project, handler), nil
}

// AddEventHandlerWithOptions adds a handler. There is no resync.
func (s *scopedInformer) AddEventHandlerWithOptions(
	handler toolscache.ResourceEventHandler, _ toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return s.add(s.project, handler), nil
}

// RemoveEventHandler removes a handler.
func (s *scopedInformer) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	if registered, ok := handle.(*registration); ok {
		s.remove(registered)
	}
	return nil
}

// AddIndexers returns an error: all projects share the indexes, and the Provider adds them.
func (s *scopedInformer) AddIndexers(toolscache.Indexers) error {
	return fmt.Errorf("project %s shares its cache with others: add indexes to the Provider", s.project)
}

// HasSynced reports whether the cache has synced.
func (s *scopedInformer) HasSynced() bool { return s.informer.HasSynced() }

// IsStopped reports whether the cache has stopped.
func (s *scopedInformer) IsStopped() bool { return s.informer.IsStopped() }
