// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/cli/view"
)

// EventReader returns a reader for the events in a namespace of a plane.
type EventReader func(ctx context.Context, plane *Plane, namespace string) (client.Reader, error)

// Directly is the EventReader of the API server.
func Directly(_ context.Context, plane *Plane, _ string) (client.Reader, error) {
	return plane.Client, nil
}

// Events returns the events about the objects of a Workload, in the project and on the hub, the newest last. Namespaces
// in which the user may not list events are left out. If the user may not list events in any namespace, it returns an
// error.
func Events(ctx context.Context, o Options, subjects *view.Subjects, reader EventReader) ([]corev1.Event, error) {
	var (
		events  []corev1.Event
		refused error
		seen    bool
	)
	for _, in := range []struct {
		name       string
		plane      *Plane
		namespaces []string
	}{{view.EventsOfProject, o.Project, []string{o.Key.Namespace}}, {view.EventsOfHub, o.Hub, subjects.HubNamespaces()}} {
		if in.plane == nil {
			continue
		}
		for _, namespace := range in.namespaces {
			list, err := eventsIn(ctx, in.plane, namespace, reader)
			if apierrors.IsForbidden(err) {
				refused = err
				subjects.Hide(in.name, err)
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list events: %w", err)
			}
			seen = true
			events = append(events, slices.DeleteFunc(list, func(e corev1.Event) bool { return !subjects.Have(&e) })...)
		}
	}
	if !seen {
		return nil, refused
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return view.LastSeen(&a).Compare(view.LastSeen(&b)) })
	return events, nil
}

func eventsIn(ctx context.Context, plane *Plane, namespace string, reader EventReader) ([]corev1.Event, error) {
	from, err := reader(ctx, plane, namespace)
	if err != nil {
		return nil, err
	}
	list := &corev1.EventList{}
	err = from.List(ctx, list, client.InNamespace(namespace))
	return list.Items, err
}
