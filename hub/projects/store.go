// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// Engagement is the time during which this replica has a project.
type Engagement struct {
	// Project is the name of the project, and Cluster its control plane.
	Project multicluster.ClusterName
	Cluster cluster.Cluster
	// Context ends with the engagement.
	Context context.Context //nolint:containedctx // It is the life of what the store starts for the project.
	// Queue takes requests of the controller whose source the store is.
	Queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]
}

// Store keeps a controller's value for each engaged project, and drops it when the project is disengaged: while another
// replica has the project, this one receives no events of it. A Store is a source of a multicluster controller, and
// safe for concurrent use.
type Store[V any] struct {
	// New creates the value of a project. A value that is created before the project is engaged has an Engagement with
	// a name only.
	New func(Engagement) V
	// Dropped is called with each value that is dropped. Nil: no function is called.
	Dropped func(V)

	mu     sync.Mutex
	values map[multicluster.ClusterName]stored[V]
	// left are the projects that were engaged and are not any more.
	left map[multicluster.ClusterName]bool
}

type stored[V any] struct {
	value V
	// engaged is the context of the engagement; nil: none has begun yet.
	engaged context.Context //nolint:containedctx // It tells engagements apart.
}

// ForCluster implements the source of a multicluster controller. A new engagement begins with a new value: a reconcile
// that was running when the last engagement ended may have changed the old value since.
func (s *Store[V]) ForCluster(project multicluster.ClusterName, cl cluster.Cluster) (source.TypedSource[mcreconcile.Request], bool, error) {
	return source.TypedFunc[mcreconcile.Request](func(ctx context.Context,
		queue workqueue.TypedRateLimitingInterface[mcreconcile.Request],
	) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(project)
		delete(s.left, project)
		s.set(project, stored[V]{s.New(Engagement{project, cl, ctx, queue}), ctx})
		context.AfterFunc(ctx, func() { s.end(ctx, project) })
		return nil
	}), true, nil
}

// Of returns the value of a project, and creates it if none exists. A reconcile that was running when the project was disengaged
// gets a value that is not kept: nothing would drop it.
func (s *Store[V]) Of(project multicluster.ClusterName) V {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept, ok := s.values[project]; ok {
		return kept.value
	}
	value := s.New(Engagement{Project: project})
	if !s.left[project] {
		s.set(project, stored[V]{value: value})
	}
	return value
}

// Get returns the value of a project, if one exists.
func (s *Store[V]) Get(project multicluster.ClusterName) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.values[project]
	return kept.value, ok
}

// All returns the values of all projects.
func (s *Store[V]) All() map[multicluster.ClusterName]V {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[multicluster.ClusterName]V, len(s.values))
	for project, kept := range s.values {
		all[project] = kept.value
	}
	return all
}

// set stores a value. s.mu is held.
func (s *Store[V]) set(project multicluster.ClusterName, value stored[V]) {
	if s.values == nil {
		s.values = map[multicluster.ClusterName]stored[V]{}
	}
	s.values[project] = value
}

// end ends an engagement, unless a later one has begun.
func (s *Store[V]) end(engaged context.Context, project multicluster.ClusterName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[project].engaged == engaged {
		s.drop(project)
		if s.left == nil {
			s.left = map[multicluster.ClusterName]bool{}
		}
		s.left[project] = true
	}
}

// drop removes a value. s.mu is held.
func (s *Store[V]) drop(project multicluster.ClusterName) {
	kept, ok := s.values[project]
	if !ok {
		return
	}
	delete(s.values, project)
	if s.Dropped != nil {
		s.Dropped(kept.value)
	}
}
