// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
)

const (
	// finalizer holds a Project until its contents are gone.
	finalizer = "resourcemanager.miloapis.com/project-contents"

	// discoveryPoll and emptyPoll are how often a worker looks again at a
	// control plane that installs kinds, or that is being emptied.
	discoveryPoll = 100 * time.Millisecond
	emptyPoll     = 250 * time.Millisecond

	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
)

// keptNamespaces stay in a project for ever: Milo's own two, and those that a
// kube-apiserver makes anew or refuses to delete.
var keptNamespaces = map[string]bool{
	metav1.NamespaceDefault: true,
	"milo-system":           true,
	metav1.NamespaceSystem:  true,
	metav1.NamespacePublic:  true,
	"kube-node-lease":       true,
}

// item is one object at the root that a worker has to look at.
type item struct {
	resource schema.GroupVersionResource
	name     string
}

// worker does everything for one project, one item at a time. Its fields other
// than queue and serving belong to its goroutine.
type worker struct {
	*projects
	name  string
	queue workqueue.TypedRateLimitingInterface[item]
	log   *slog.Logger

	plane     *plane   // nil until the control plane is up
	front     *backend // the same control plane for the router
	installed bool     // whether the shared set was written once

	// hangs is a user whose requests to the project get no answer, or nil.
	hangs atomic.Pointer[string]
	// serving is what the router uses; nil until every kind is served.
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

// run works until ctx ends.
func (w *worker) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, w.queue.ShutDown)
	defer stop()
	for w.next(ctx) {
	}
}

// next works on one item and reports whether there may be more.
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
		w.log.Warn("trying again", "resource", it.resource.Resource, "name", it.name, "error", err)
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
		return 0, nil // install reads the whole set
	}
	return 0, w.shared.copyTo(ctx, w.plane, it)
}

// reconcileProject reads the Project from the root, not from a cache, so that
// it never acts on what it wrote itself a moment ago.
func (w *worker) reconcileProject(ctx context.Context) (time.Duration, error) {
	project, err := w.root.objects.Resource(projectsResource).Get(ctx, w.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the Project: %w", err)
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

// protect puts the finalizer on the Project before it can hold anything.
func (w *worker) protect(ctx context.Context, project *unstructured.Unstructured) (time.Duration, error) {
	if project.GetDeletionTimestamp() != nil || hasFinalizer(project) {
		return 0, nil
	}
	held := identified(project)
	held.SetFinalizers([]string{finalizer})
	return 0, apply(ctx, w.root, projectsResource, held)
}

// start brings the control plane up.
func (w *worker) start(ctx context.Context, _ *unstructured.Unstructured) (time.Duration, error) {
	if w.plane != nil {
		return 0, nil
	}
	config, err := w.planes.Start(ctx, w.name)
	if err != nil {
		return 0, fmt.Errorf("starting the control plane: %w", err)
	}
	front, err := newBackend(config, w.frontProxy)
	if err != nil {
		return 0, err
	}
	plane, err := newPlane(config)
	if err != nil {
		return 0, fmt.Errorf("connecting to the control plane: %w", err)
	}
	w.plane, w.front = plane, front
	return 0, nil
}

// install makes the namespaces that are always there and writes the shared set
// once; from then on it is kept in step object by object.
func (w *worker) install(ctx context.Context, _ *unstructured.Unstructured) (time.Duration, error) {
	if w.installed {
		return 0, nil
	}
	for _, name := range []string{metav1.NamespaceDefault, "milo-system"} {
		namespace := &unstructured.Unstructured{}
		namespace.SetAPIVersion("v1")
		namespace.SetKind("Namespace")
		namespace.SetName(name)
		_, err := w.plane.objects.Resource(namespacesResource).Create(ctx, namespace, metav1.CreateOptions{FieldManager: fieldOwner})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return 0, fmt.Errorf("making namespace %s: %w", name, err)
		}
	}
	if err := w.shared.installTo(ctx, w.plane); err != nil {
		return 0, err
	}
	w.installed = true
	return 0, nil
}

// serve opens the project to the router once every kind is there.
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
	w.serving.Store(w.front)
	w.log.Info("project is served")
	return 0, nil
}

// empty deletes what a Project that is being deleted holds, and lets it go
// when nothing is left.
func (w *worker) empty(ctx context.Context, project *unstructured.Unstructured) (time.Duration, error) {
	if project.GetDeletionTimestamp() == nil || !hasFinalizer(project) {
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
	w.log.Info("project is empty and let go")
	return 0, nil
}

// report says that the project is ready. It stays so while it is being
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
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	_, err = w.root.objects.Resource(projectsResource).ApplyStatus(ctx, w.name, status, options)
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("writing the Project's status: %w", err)
	}
	return 0, nil
}
