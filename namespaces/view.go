// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo"
)

// plane is the control plane of a project: a view of the hub. Everything that it does not replace is the same for all
// projects.
type plane struct {
	cluster.Cluster
	project string
	view    *view
	live    client.Client
}

func newPlane(p *Planes, project string) *plane {
	return &plane{Cluster: p.shared, project: project, live: p.scope(project), view: &view{planes: p, project: project}}
}

// Start returns when ctx ends. The shared cache does not end with a project.
func (*plane) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// GetCache is the part of the shared cache with the objects of the project.
func (p *plane) GetCache() cache.Cache { return p.view }

// GetClient reads the objects that the cache has.
func (p *plane) GetClient() client.Client { return &cachedClient{Client: p.live, view: p.view} }

// GetAPIReader returns a reader that bypasses the cache.
func (p *plane) GetAPIReader() client.Reader { return p.live }

// GetFieldIndexer is the indexer of the view, which adds no index.
func (p *plane) GetFieldIndexer() client.FieldIndexer { return p.view }

// OnlyNamespace is the namespace that caches of the project must be limited to.
func (p *plane) OnlyNamespace() string { return p.project }

// AdoptedWorkload returns the UID that a Workload of the project had on an earlier hub whose Instances it takes over; "": none.
func (p *plane) AdoptedWorkload(ctx context.Context, name string) (types.UID, error) {
	namespace, shared := &corev1.Namespace{}, p.view.planes.shared.GetCache()
	if err := shared.Get(ctx, client.ObjectKey{Name: p.project}, namespace, client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("get namespace %s for what it adopts: %w", p.project, err)
	}
	return wire.AdoptionOf(namespace).Workloads[name], nil
}

// cachedClient reads from the cache the kinds that are there, and writes past it.
type cachedClient struct {
	client.Client
	view *view
}

// Get gets an object.
func (c *cachedClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if c.view.planes.kinds[keyOf(obj)] == nil {
		return c.Client.Get(ctx, key, obj, opts...)
	}
	return c.view.Get(ctx, key, obj, opts...)
}

// List lists objects.
func (c *cachedClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if !c.view.isCached(list) {
		return c.Client.List(ctx, list, opts...)
	}
	return c.view.List(ctx, list, opts...)
}

// view is the part of the shared cache with the objects of a project.
type view struct {
	planes  *Planes
	project string
}

var _ cache.Cache = &view{}

// isCached reports whether the cache has the objects of a typed list.
func (v *view) isCached(list client.ObjectList) bool {
	const suffix = "List"
	name := fmt.Sprintf("%T", list)
	return v.planes.kinds[name[:max(len(name)-len(suffix), 0)]] != nil
}

// Get gets an object of the project.
func (v *view) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if key.Namespace != v.project || v.planes.kinds[keyOf(obj)] == nil {
		return fmt.Errorf("%T %s is not in the cache of project %s", obj, key, v.project)
	}
	return v.planes.shared.GetCache().Get(ctx, key, obj, opts...)
}

// List lists objects of the project.
func (v *view) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	shared := v.planes.shared.GetCache()
	if bindings, isLocations := list.(*milo.LocationBindingList); isLocations {
		return listLocations(ctx, shared, v.project, bindings)
	}
	if !v.isCached(list) {
		return fmt.Errorf("%T is not in the cache of project %s", list, v.project)
	}
	return shared.List(ctx, list, append(opts, client.InNamespace(v.project))...)
}

// GetInformer returns the informer of a kind with the events of the project.
func (v *view) GetInformer(_ context.Context, obj client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	watched := v.planes.kinds[keyOf(obj)]
	if watched == nil {
		return nil, fmt.Errorf("%T is not in the cache of project %s", obj, v.project)
	}
	return &scopedInformer{kind: watched, project: v.project}, nil
}

// GetInformerForKind returns the informer of a kind.
func (v *view) GetInformerForKind(
	ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	made, err := v.planes.shared.GetScheme().New(gvk)
	if err != nil {
		return nil, fmt.Errorf("find the type of %s: %w", gvk, err)
	}
	obj, ok := made.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s is no kind of objects", gvk)
	}
	return v.GetInformer(ctx, obj, opts...)
}

// RemoveInformer leaves the informer, which other projects use.
func (*view) RemoveInformer(context.Context, client.Object) error { return nil }

// Start returns when ctx ends.
func (*view) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// WaitForCacheSync waits for the shared cache.
func (v *view) WaitForCacheSync(ctx context.Context) bool {
	return v.planes.shared.GetCache().WaitForCacheSync(ctx)
}

// IndexField returns an error: all projects share the indexes, and the Provider adds them.
func (v *view) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return fmt.Errorf("project %s shares its cache with others: add indexes to the Provider", v.project)
}
