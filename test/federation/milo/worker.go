// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/testenv/ledger"
)

const (
	// finalizer keeps a Project until its contents are deleted.
	finalizer = "resourcemanager.miloapis.com/project-contents"

	// discoveryPoll and emptyPoll are the delays after which a Project is
	// requeued while its control plane installs kinds, or is being emptied.
	discoveryPoll = 100 * time.Millisecond
	emptyPoll     = 250 * time.Millisecond

	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
)

// keptNamespaces are never deleted from a project: Milo's own two, and the namespaces that a kube-apiserver recreates
// or refuses to delete.
var keptNamespaces = map[string]bool{
	metav1.NamespaceDefault: true,
	"milo-system":           true,
	metav1.NamespaceSystem:  true,
	metav1.NamespacePublic:  true,
	"kube-node-lease":       true,
}

// item is an object at the root that a worker reconciles.
type item struct {
	resource schema.GroupVersionResource
	name     string
}

// worker reconciles one project, one item at a time.
type worker struct {
	*projects
	name  string
	queue workqueue.TypedRateLimitingInterface[item]
	log   *slog.Logger

	// Only the worker's goroutine uses these fields.
	plane     *plane   // nil until the control plane is up
	front     *backend // the same control plane for the router
	installed bool     // whether the shared set was written once

	// hangs is a user whose requests to the project are not answered, or nil.
	hangs atomic.Pointer[string]
	// suspended are the reasons of the suspensions of the Project, or nil.
	suspended atomic.Pointer[[]string]
	// served is the plane when serving is set.
	served atomic.Pointer[plane]
	// serving is the backend for the router; nil until every kind is served.
	serving atomic.Pointer[backend]
}

func newWorker(ps *projects, name string) *worker {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[item](retryFirst, retryMost)
	return &worker{
		projects: ps,
		name:     name,
		queue:    workqueue.NewTypedRateLimitingQueue(limiter),
		log:      ps.log.With("project", name),
	}
}

// run reconciles items until ctx ends.
func (w *worker) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, w.queue.ShutDown)
	defer stop()
	for w.next(ctx) {
	}
}

// next reconciles one item and reports whether there may be more.
func (w *worker) next(ctx context.Context) bool {
	it, shutdown := w.queue.Get()
	if shutdown || ctx.Err() != nil {
		return false
	}
	defer w.queue.Done(it)
	again, err := w.reconcile(ctx, it)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		w.log.Warn("reconcile failed, requeued", "resource", it.resource.Resource, "name", it.name, "error", err)
		w.queue.AddRateLimited(it)
	case again > 0:
		w.queue.Forget(it)
		w.queue.AddAfter(it, again)
	default:
		w.queue.Forget(it)
	}
	return true
}

func (w *worker) reconcile(ctx context.Context, it item) (time.Duration, error) {
	if it.resource == projectsResource {
		return w.reconcileProject(ctx)
	}
	if !w.installed {
		return 0, nil // install writes the whole set
	}
	return 0, w.shared.copyTo(ctx, w.plane, it)
}

// reconcileProject reads the Project from the root and not from a cache, which
// may lag behind the worker's own writes.
func (w *worker) reconcileProject(ctx context.Context) (time.Duration, error) {
	project, err := w.root.objects.Resource(projectsResource).Get(ctx, w.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the Project: %w", err)
	}
	steps := []func(context.Context, *unstructured.Unstructured) (time.Duration, error){
		w.protect, w.start, w.install, w.serve, w.empty, w.report,
	}
	for _, step := range steps {
		if again, err := step(ctx, project); err != nil || again > 0 {
			return again, err
		}
	}
	return 0, nil
}

// protect adds the finalizer before anything can be created in the project.
func (w *worker) protect(ctx context.Context, project *unstructured.Unstructured) (time.Duration, error) {
	if project.GetDeletionTimestamp() != nil || slices.Contains(project.GetFinalizers(), finalizer) {
		return 0, nil
	}
	held := identified(project)
	held.SetFinalizers([]string{finalizer})
	return 0, apply(ctx, w.root, projectsResource, held)
}

// start starts the control plane.
func (w *worker) start(ctx context.Context, _ *unstructured.Unstructured) (time.Duration, error) {
	if w.plane != nil {
		return 0, nil
	}
	config, err := w.planes.Start(ctx, w.name)
	if err != nil {
		return 0, fmt.Errorf("start the control plane: %w", err)
	}
	front, err := newBackend(config, w.frontProxy)
	if err != nil {
		return 0, err
	}
	plane, err := newPlane(config)
	if err != nil {
		return 0, fmt.Errorf("connect to the control plane: %w", err)
	}
	w.plane, w.front = plane, front
	return 0, nil
}

// install creates Milo's namespaces and writes the shared set once. After that, each changed object of the set is a
// separate item.
func (w *worker) install(ctx context.Context, _ *unstructured.Unstructured) (time.Duration, error) {
	if w.installed {
		return 0, nil
	}
	for _, name := range []string{metav1.NamespaceDefault, "milo-system"} {
		namespace := &unstructured.Unstructured{}
		namespace.SetAPIVersion("v1")
		namespace.SetKind("Namespace")
		namespace.SetName(name)
		_, err := w.plane.objects.Resource(namespacesResource).Create(ctx, namespace, metav1.CreateOptions{FieldManager: fieldManager})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return 0, fmt.Errorf("create namespace %s: %w", name, err)
		}
	}
	if err := w.shared.installTo(ctx, w.plane); err != nil {
		return 0, err
	}
	w.installed = true
	return 0, nil
}

// serve gives the control plane to the router once every kind is served.
func (w *worker) serve(ctx context.Context, _ *unstructured.Unstructured) (time.Duration, error) {
	if w.serving.Load() != nil {
		return 0, nil
	}
	served, err := w.shared.servedBy(ctx, w.plane)
	if err != nil {
		return 0, err
	}
	if !served {
		return discoveryPoll, nil
	}
	w.served.Store(w.plane)
	w.serving.Store(w.front)
	w.log.Info("project is served")
	claims := &ledger.Ledger{Objects: w.plane.objects, Project: w.name, Clock: clock.RealClock{}, Log: w.log}
	w.running.Go(func() { claims.Run(ctx) })
	return 0, nil
}

// empty deletes the contents of a Project that is being deleted, and removes the
// finalizer when nothing is left.
func (w *worker) empty(ctx context.Context, project *unstructured.Unstructured) (time.Duration, error) {
	if project.GetDeletionTimestamp() == nil || !slices.Contains(project.GetFinalizers(), finalizer) {
		return 0, nil
	}
	left, err := deleteContents(ctx, w.plane, w.shared.kinds(scopeNamespaced))
	if err != nil {
		return 0, err
	}
	if left > 0 {
		return emptyPoll, nil
	}
	if err := apply(ctx, w.root, projectsResource, identified(project)); err != nil && !apierrors.IsNotFound(err) {
		return 0, err
	}
	w.log.Info("project is empty, finalizer removed")
	return 0, nil
}

// report sets the condition Ready. It stays True while the Project is being
// deleted.
func (w *worker) report(ctx context.Context, project *unstructured.Unstructured) (time.Duration, error) {
	if project.GetDeletionTimestamp() != nil {
		return 0, nil
	}
	condition, changed, err := readyCondition(project, w.clock.Now())
	if err != nil || !changed {
		return 0, err
	}
	status := identified(project)
	status.Object["status"] = map[string]any{"conditions": []any{condition}}
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	_, err = w.root.objects.Resource(projectsResource).ApplyStatus(ctx, w.name, status, options)
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("write the Project's status: %w", err)
	}
	return 0, nil
}
