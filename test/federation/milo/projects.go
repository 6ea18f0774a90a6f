// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// projects watches the Projects at the root and runs one worker for each, so
// that a slow control plane does not delay others.
type projects struct {
	root       *plane
	rootConfig *rest.Config
	planes     Planes
	frontProxy rest.TLSClientConfig
	shared     *sharedSet
	clock      clock.PassiveClock
	log        *slog.Logger

	// ready is set once Projects are watched.
	ready atomic.Bool

	mu      sync.Mutex // guards workers
	workers map[string]*worker
	running sync.WaitGroup
}

func newProjects(root *plane, o Options, clk clock.PassiveClock) *projects {
	return &projects{
		root:       root,
		rootConfig: o.Root,
		planes:     o.Planes,
		frontProxy: o.FrontProxy,
		shared:     &sharedSet{},
		clock:      clk,
		log:        o.Log,
		workers:    map[string]*worker{},
	}
}

// run installs the CRDs and reconciles Projects until ctx ends. Projects are
// watched last: workers need the whole shared set.
func (ps *projects) run(ctx context.Context) error {
	if err := installCRDs(ctx, ps.root); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	watched, err := newPlane(watching(ps.rootConfig))
	if err != nil {
		return fmt.Errorf("connect to Milo's root for watches: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(watched.objects, 0)
	defer func() {
		cancel()
		factory.Shutdown()
		ps.running.Wait()
	}()
	if err := ps.shared.watch(factory, ps.enqueueShared); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	informer := factory.ForResource(projectsResource).Informer()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { ps.enqueueProject(ctx, object) },
		UpdateFunc: func(_, object any) { ps.enqueueProject(ctx, object) },
		// Nothing to do on a deletion: the finalizer has emptied the project, and its control plane is kept.
	})
	if err != nil {
		return fmt.Errorf("watch Projects: %w", err)
	}
	factory.Start(ctx.Done())
	if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		ps.ready.Store(true)
		ps.log.Info("Projects are watched")
	}
	<-ctx.Done()
	return nil
}

// enqueueProject adds a Project to its worker's queue. It starts the worker of a
// new Project.
func (ps *projects) enqueueProject(ctx context.Context, object any) {
	project, err := meta.Accessor(object)
	if err != nil {
		ps.log.Error("watch event without an object", "error", err)
		return
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ctx.Err() != nil {
		return // run may be waiting for the workers already
	}
	w, known := ps.workers[project.GetName()]
	if !known {
		w = newWorker(ps, project.GetName())
		ps.workers[project.GetName()] = w
		ps.running.Go(func() { w.run(ctx) })
	}
	w.hangs.Store(nil)
	if user, ok := project.GetAnnotations()[HangAnnotation]; ok {
		w.hangs.Store(&user)
	}
	w.suspended.Store(suspensionsOf(object))
	w.queue.Add(item{resource: projectsResource, name: project.GetName()})
}

// hangs implements directory.
func (ps *projects) hangs(project, user string) bool {
	w := ps.worker(project)
	if w == nil {
		return false
	}
	held := w.hangs.Load()
	return held != nil && *held == user
}

// enqueueShared adds an object of the shared set to every worker's queue.
func (ps *projects) enqueueShared(changed item) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, w := range ps.workers {
		w.queue.Add(changed)
	}
}

// backend implements directory. It reads a Project that is not served yet from
// the root, so that a new one is found before its watch event.
func (ps *projects) backend(ctx context.Context, project string) (*backend, error) {
	if w := ps.worker(project); w != nil {
		if to := w.serving.Load(); to != nil {
			return to, nil
		}
	}
	_, err := ps.root.objects.Resource(projectsResource).Get(ctx, project, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, errUnknownProject
	case err != nil:
		return nil, fmt.Errorf("read Project %s: %w", project, err)
	default:
		return nil, errStartingProject
	}
}
