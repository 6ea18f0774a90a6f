// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// ProjectHandler receives the Projects of a Watch. Its methods must return at once and not change the Project.
type ProjectHandler interface {
	// Observe is called with each Project, and with each change.
	Observe(project *Project)
	// Forget is called with the last known state of a deleted Project.
	Forget(project *Project)
}

// Watch watches the Projects at Milo's root: once for a process, whatever needs it.
type Watch struct {
	root     *rest.Config
	patience *Patience
	metered  labels.Selector
	handlers []ProjectHandler
}

// NewWatch creates a Watch. It sends no request before it is started. The Projects have the labels that metered reads.
func NewWatch(root *rest.Config, patience *Patience, metered labels.Selector, handlers ...ProjectHandler) *Watch {
	return &Watch{root: root, patience: patience, metered: metered, handlers: handlers}
}

// AddHandler adds a handler. It must be called before Start.
func (w *Watch) AddHandler(handler ProjectHandler) { w.handlers = append(w.handlers, handler) }

// Start watches until ctx ends. That Milo cannot be reached is not an error.
func (w *Watch) Start(ctx context.Context) error {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return fmt.Errorf("build the scheme: %w", err)
	}
	mapper, err := NewRESTMapper(scheme)
	if err != nil {
		return err
	}
	root, err := cache.New(w.root, cache.Options{
		Scheme: scheme, Mapper: mapper, DefaultTransform: trimProject(w.metered), NewInformer: w.patience.NewInformer,
	})
	if err != nil {
		return fmt.Errorf("make a cache for Milo's Projects: %w", err)
	}
	// Does not block: the handlers are called when Milo answers.
	informer, err := root.GetInformer(ctx, &Project{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch Milo's Projects: %w", err)
	}
	for _, handler := range w.handlers {
		if _, err := informer.AddEventHandler(eventsFor(handler)); err != nil {
			return fmt.Errorf("watch Milo's Projects: %w", err)
		}
	}
	return root.Start(ctx)
}

// eventsFor calls a handler.
func eventsFor(handler ProjectHandler) toolscache.ResourceEventHandler {
	observe := func(obj any) {
		if project, ok := obj.(*Project); ok {
			handler.Observe(project)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    observe,
		UpdateFunc: func(_, obj any) { observe(obj) },
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			if project, ok := obj.(*Project); ok {
				handler.Forget(project)
			}
		},
	}
}
