// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// index is an index that a controller adds to caches.
type index interface {
	AddTo(ctx context.Context, indexer client.FieldIndexer) error
}

// Index adds an index to a plane, as a controller adds it to a cache.
func Index(t testing.TB, p *Plane, index index) {
	t.Helper()
	if err := index.AddTo(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// IndexField lets lists select by a field that only caches know. The API server lists, and the plane selects.
func (p *Plane) IndexField(_ context.Context, _ client.Object, field string, extract client.IndexerFunc) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.indexes[field] = extract
	return nil
}

// list lists, and selects by the index if the options request it. Without the index the API server rejects the field.
func (p *Plane) list(ctx context.Context, c client.Client, list client.ObjectList, opts []client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	value, extract := p.indexed(options)
	if extract == nil {
		return c.List(ctx, list, opts...)
	}
	options.FieldSelector = nil
	if err := c.List(ctx, list, options); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	return meta.SetList(list, slices.DeleteFunc(items, func(item runtime.Object) bool {
		obj, ok := item.(client.Object)
		return !ok || !slices.Contains(extract(obj), value)
	}))
}

// indexed returns the value of the indexed field that the options select by, and its index, or nil.
func (p *Plane) indexed(options *client.ListOptions) (value string, extract client.IndexerFunc) {
	if options.FieldSelector == nil {
		return "", nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for field, extract := range p.indexes {
		if value, found := options.FieldSelector.RequiresExactMatch(field); found {
			return value, extract
		}
	}
	return "", nil
}
