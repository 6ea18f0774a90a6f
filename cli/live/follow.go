// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// Follow shows the tree of the Workload as it changes, until done returns true, ctx ends, or the reader of the output is gone. It
// returns the last state.
func (w *Watch) Follow(ctx context.Context, screen *terminal.Screen, wide bool, done func(*view.Snapshot) bool) (last *view.Snapshot, err error) {
	defer screen.End()
	err = w.Each(ctx, func(s *view.Snapshot) (bool, error) {
		last = s
		screen.Show(w.lines(s, view.Layout{Columns: max(screen.Columns()-indent, 0), Wide: wide}))
		return done(s), screen.Err()
	})
	return last, err
}

// Each calls do with each state, and with each tick of a terminal's clock, until do returns done.
func (w *Watch) Each(ctx context.Context, do func(*view.Snapshot) (done bool, err error)) error {
	var current *view.Snapshot
	for {
		read, err := w.Snapshot(ctx)
		switch {
		case err == nil:
			current = read
		case current == nil || ctx.Err() != nil:
			return err
		default:
			w.failed(ctx, nil, err)
		}
		if done, err := do(current); done || err != nil {
			return err
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
	}
}

// indent is the indentation of a screen's block.
const indent = 2

func (w *Watch) lines(s *view.Snapshot, l view.Layout) []string {
	var lines []string
	if problem := w.Problem(); problem != "" {
		lines = append(lines, terminal.Wrap(terminal.Clean(problem), l.Columns)...)
	}
	if s.Gone() {
		return append(lines, "no objects")
	}
	return append(lines, s.Tree().Lines(l)...)
}

type eventsKey struct {
	plane     *Plane
	namespace string
}

// Events reads the events in a namespace of a plane from a watch, which starts with the first read: the hub namespaces of a
// Workload are known only once they exist. A user who may not list events gets the API server's refusal.
func (w *Watch) Events(ctx context.Context, plane *Plane, namespace string) (client.Reader, error) {
	key := eventsKey{plane, namespace}
	if reader := w.events[key]; reader != nil {
		return reader, nil
	}
	if err := plane.Client.List(ctx, &corev1.EventList{}, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return nil, err
	}
	reader, err := w.watch(ctx, plane, map[client.Object]ctrlcache.ByObject{
		&corev1.Event{}: {Namespaces: map[string]ctrlcache.Config{namespace: {}}},
	})
	if err == nil {
		w.events[key] = reader
	}
	return reader, err
}

// reader reads watched kinds from the cache, and others from the API server.
type reader struct {
	live   client.Client
	cache  client.Reader
	cached map[string]bool
}

var _ client.Reader = &reader{}

// Get implements client.Reader.
func (r *reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return r.of(object).Get(ctx, key, object, options...)
}

// List implements client.Reader.
func (r *reader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return r.of(list).List(ctx, list, options...)
}

func (r *reader) of(object runtime.Object) client.Reader {
	if r.cached[r.kind(object)] {
		return r.cache
	}
	return r.live
}

// kind returns the kind of an object, or of the items of a list; "" for a kind that the scheme does not know, which no cache has
// either.
func (r *reader) kind(object runtime.Object) string {
	gvk, err := apiutil.GVKForObject(object, r.live.Scheme())
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(gvk.Kind, "List")
}
