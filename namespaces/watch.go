// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/milo"
)

// finalizers begin the finalizers of the add-on.
const finalizers = "compute.datumapis.com/"

// Watch reports the namespaces that are projects to handlers, from the shared cache, which it runs.
//
// A namespace that has lost its label stays a project for controllers as long as it has Workloads or
// WorkloadDeployments with a finalizer of the add-on: running Instances keep running, and can be deleted. Admission
// treats it as an ordinary namespace.
type Watch struct {
	planes   *Planes
	handlers []milo.ProjectHandler
	log      logr.Logger

	// mu is held while handlers are called, which return at once: so they receive the states of a project in order.
	mu sync.Mutex
	// known are the projects that handlers have received.
	known map[string]*milo.Project
}

// NewWatch creates a Watch. It sends no request before it is started.
func NewWatch(planes *Planes, log logr.Logger, handlers ...milo.ProjectHandler) *Watch {
	return &Watch{planes: planes, log: log, handlers: handlers, known: map[string]*milo.Project{}}
}

// AddHandler adds a handler. It must be called before Start.
func (w *Watch) AddHandler(handler milo.ProjectHandler) { w.handlers = append(w.handlers, handler) }

// Start runs the shared cache and watches until ctx ends.
func (w *Watch) Start(ctx context.Context) error {
	informer, err := w.planes.shared.GetCache().GetInformer(ctx, &corev1.Namespace{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the namespaces of the hub: %w", err)
	}
	if _, err := informer.AddEventHandler(eventsFor(func(obj client.Object) { w.look(ctx, obj.GetName()) })); err != nil {
		return fmt.Errorf("watch the namespaces of the hub: %w", err)
	}
	for _, using := range w.planes.using() {
		// A namespace without a label is a project for as long as it has these.
		if _, err := using.informer.AddEventHandler(eventsFor(func(obj client.Object) {
			w.lookUnlabelled(ctx,
				obj.GetNamespace())
		})); err != nil {
			return fmt.Errorf("watch the objects of all projects: %w", err)
		}
	}
	return w.planes.start(ctx)
}

// eventsFor calls f with the object of each event.
func eventsFor(f func(client.Object)) toolscache.ResourceEventHandler {
	call := func(obj any) {
		if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		if object, ok := obj.(client.Object); ok {
			f(object)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{AddFunc: call, UpdateFunc: func(_, obj any) { call(obj) }, DeleteFunc: call}
}

// lookUnlabelled calls look for a namespace without the label. Only without the label do objects decide whether a
// namespace is a project.
func (w *Watch) lookUnlabelled(ctx context.Context, name string) {
	namespace := &corev1.Namespace{}
	err := w.planes.shared.GetCache().Get(ctx, client.ObjectKey{Name: name}, namespace, client.UnsafeDisableDeepCopy)
	if err == nil && !isLabelled(namespace) {
		w.look(ctx, name)
	}
}

// look reports the current state of a namespace to the handlers.
func (w *Watch) look(ctx context.Context, name string) {
	if !Eligible(name) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	project, err := w.find(ctx, name)
	if err != nil {
		if ctx.Err() == nil {
			w.log.Error(err, "Cannot find out whether a namespace is a project", "namespace", name)
		}
		return
	}
	before := w.known[name]
	if before != nil && (project == nil || before.UID != project.UID) {
		delete(w.known, name)
		for _, handler := range w.handlers {
			handler.Forget(before)
		}
	}
	if project == nil {
		return
	}
	w.known[name] = project
	for _, handler := range w.handlers {
		handler.Observe(project)
	}
}

// find returns the project of a namespace, nil if the namespace is no project.
func (w *Watch) find(ctx context.Context, name string) (*milo.Project, error) {
	namespace := &corev1.Namespace{}
	err := w.planes.shared.GetCache().Get(ctx, client.ObjectKey{Name: name}, namespace)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if isLabelled(namespace) {
		return projectOf(namespace, true), nil
	}
	if !w.isHeld(name) {
		return nil, nil
	}
	return projectOf(namespace, true), nil
}

// isHeld reports whether a namespace has objects with a finalizer of the add-on.
func (w *Watch) isHeld(name string) bool {
	for _, using := range w.planes.using() {
		for _, obj := range using.objects(name) {
			if slices.ContainsFunc(obj.GetFinalizers(), func(f string) bool { return strings.HasPrefix(f, finalizers) }) {
				return true
			}
		}
	}
	return false
}
