// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// Footprint reports which projects have a hub namespace. A manager runs it. It is safe for concurrent use.
type Footprint struct {
	hub cache.Informers

	mu sync.Mutex
	// namespaces are the hub namespaces by project.
	namespaces map[string]map[string]struct{}
	synced     func() bool
	changed    []func(project string)
}

// NewFootprint returns a Footprint that reads a cache of the hub.
func NewFootprint(hub cache.Informers) *Footprint {
	return &Footprint{hub: hub, namespaces: map[string]map[string]struct{}{}}
}

// Start watches until ctx ends.
func (f *Footprint) Start(ctx context.Context) error {
	informer, err := f.hub.GetInformer(ctx, &corev1.Namespace{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the hub namespaces: %w", err)
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    f.observe,
		UpdateFunc: func(_, obj any) { f.observe(obj) },
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			f.forget(obj)
		},
	})
	if err != nil {
		return fmt.Errorf("watch the hub namespaces: %w", err)
	}
	f.mu.Lock()
	f.synced = registration.HasSynced
	f.mu.Unlock()
	<-ctx.Done()
	return nil
}

// NeedLeaderElection returns false: every replica needs it.
func (*Footprint) NeedLeaderElection() bool { return false }

// HasSynced reports whether all hub namespaces are known.
func (f *Footprint) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced != nil && f.synced()
}

// Needed reports whether a project has a hub namespace.
func (f *Footprint) Needed(project string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.namespaces[project]) > 0
}

// OnChange registers g, which is called with the name of a project that gets a hub namespace. g must return at once.
func (f *Footprint) OnChange(g func(project string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed = append(f.changed, g)
}

func (f *Footprint) observe(obj any) {
	namespace, ok := obj.(client.Object)
	if !ok || projects.NameOf(namespace) == "" {
		return
	}
	project := projects.NameOf(namespace).String()
	f.mu.Lock()
	namespaces := f.namespaces[project]
	if namespaces == nil {
		namespaces = map[string]struct{}{}
		f.namespaces[project] = namespaces
	}
	_, existed := namespaces[namespace.GetName()]
	namespaces[namespace.GetName()] = struct{}{}
	changed := f.changed
	f.mu.Unlock()
	if existed {
		return
	}
	for _, g := range changed {
		g(project)
	}
}

func (f *Footprint) forget(obj any) {
	namespace, ok := obj.(client.Object)
	if !ok {
		return
	}
	project := projects.NameOf(namespace).String()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.namespaces[project], namespace.GetName())
	if len(f.namespaces[project]) == 0 {
		delete(f.namespaces, project)
	}
}
