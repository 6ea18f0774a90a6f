// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// reader reads watched kinds from the cache, and others from the API server.
type reader struct {
	live   client.Client
	cache  client.Reader
	cached map[string]bool
}

var _ client.Reader = &reader{}

// Get implements client.Reader.
func (r *reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return r.readerOf(object).Get(ctx, key, object, options...)
}

// List implements client.Reader.
func (r *reader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return r.readerOf(list).List(ctx, list, options...)
}

func (r *reader) readerOf(object runtime.Object) client.Reader {
	if r.cached[r.kind(object)] {
		return r.cache
	}
	return r.live
}

// kind returns the kind of an object, or of the items of a list; "" for a kind that the scheme does not know, which no
// cache has either.
func (r *reader) kind(object runtime.Object) string {
	gvk, err := apiutil.GVKForObject(object, r.live.Scheme())
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(gvk.Kind, "List")
}
