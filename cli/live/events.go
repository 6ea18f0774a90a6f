// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
