// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

const (
	// patience is the maximum time that admission waits for its mark: far more than a hub needs, and too short to be
	// noticed when the hub does not answer. Without a wait, a replica that is killed after its answer would lose the mark.
	patience = 250 * time.Millisecond
	// writeTimeout bounds an attempt to write, which no caller waits for.
	writeTimeout = 5 * time.Second
	// firstRetry and lastRetry bound the time between attempts while the hub does not answer.
	firstRetry, lastRetry = 500 * time.Millisecond, 30 * time.Second
	// writers is how many marks are written at once.
	writers = 4
	// maxPending bounds the number of projects that wait for their marks while the hub is unavailable.
	maxPending = 10000
)

// Results of a mark, as a label of the metric.
const (
	resultWritten = "written"
	resultFailed  = "failed"
	resultDropped = "dropped"
)

// Options configure Marks.
type Options struct {
	// Hub is the configuration for the hub.
	Hub *rest.Config
	// Namespace holds the marks. It must exist.
	Namespace string
	// Clock is for waiting and retries.
	Clock clock.WithTicker
	// Registerer gets the metric.
	Registerer prometheus.Registerer
	// Log gets the marks that could not be written.
	Log logr.Logger
}

// Marks are the marks on the hub. They need Start. All methods are safe for concurrent use.
type Marks struct {
	options Options
	client  client.Client
	cache   cache.Cache
	results *prometheus.CounterVec
	queue   workqueue.TypedRateLimitingInterface[string]

	// mu guards the fields below. It is never held during a request or a call.
	mu sync.Mutex
	// known are the marks, by project.
	known  map[string]mark
	synced func() bool
	// pending holds a channel per project. It is closed when the mark was written, or when the first attempt failed.
	pending map[string]chan struct{}
	// away is true after a failed attempt: callers do not wait then.
	away    bool
	changed []func(project string)
}

// mark is the state of a mark in the watch.
type mark struct {
	version string
	leaving bool
}

// trim keeps of a mark what is read.
var trim = watch.OnlyKeys(v1alpha.LabelProjectMark, v1alpha.AnnotationProjectName, v1alpha.AnnotationLeaving)

// New creates Marks. It sends no request.
func New(o Options) (*Marks, error) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), metav1.AddMetaToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	hub, err := client.New(o.Hub, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("make a client for the marks on the hub: %w", err)
	}
	watched, err := cache.New(o.Hub, cache.Options{
		Scheme: scheme, Mapper: mapper, DefaultTransform: trim,
		DefaultNamespaces:    map[string]cache.Config{o.Namespace: {}},
		DefaultLabelSelector: labels.SelectorFromSet(labels.Set{v1alpha.LabelProjectMark: v1alpha.ProjectMarkPresent}),
	})
	if err != nil {
		return nil, fmt.Errorf("make a cache for the marks on the hub: %w", err)
	}
	m := &Marks{
		options: o, client: hub, cache: watched, known: map[string]mark{}, pending: map[string]chan struct{}{},
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_project_marks_total",
			Help: "Attempts to mark on the hub that a project has Workloads, by result. If a mark fails, the owner of the project " +
				"engages it on its next Workload or on the next sweep (--project-sweep).",
		}, []string{"result"}),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "project-marks", Clock: o.Clock}),
	}
	o.Registerer.MustRegister(m.results)
	return m, nil
}

// Start watches and writes until ctx ends. That the hub cannot be reached is not an error.
func (m *Marks) Start(ctx context.Context) error {
	informer, err := m.cache.GetInformer(ctx, metadata(), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the marks of projects: %w", err)
	}
	registration, err := informer.AddEventHandler(m.events())
	if err != nil {
		return fmt.Errorf("watch the marks of projects: %w", err)
	}
	m.mu.Lock()
	m.synced = registration.HasSynced
	m.mu.Unlock()
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for m.writeNext(ctx) {
				continue
			}
		})
	}
	err = m.cache.Start(ctx)
	m.queue.ShutDown()
	writing.Wait()
	return err
}

// HasSynced reports whether the marks are known.
func (m *Marks) HasSynced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.synced != nil && m.synced()
}

// Needed reports whether a project has a mark, according to the watch.
func (m *Marks) Needed(project string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, marked := m.known[project]
	return marked
}

// Projects returns the projects that have a mark.
func (m *Marks) Projects() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return sets.List(sets.KeySet(m.known))
}

// OnChange registers f. It is called with the name of a project that was marked, also when it was marked again while
// the owner was leaving. f must return at once.
func (m *Marks) OnChange(f func(project string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = append(m.changed, f)
}

// Mark marks a project. It waits for the write for a short time, and not at all if the project is marked already or
// while the hub does not answer: the attempts continue in the background.
func (m *Marks) Mark(ctx context.Context, project string) {
	written := m.enqueue(project)
	if written == nil {
		return
	}
	timer := m.options.Clock.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C():
	case <-ctx.Done():
	}
}

// Ensure is Mark without waiting.
func (m *Marks) Ensure(project string) { _ = m.enqueue(project) }

// enqueue queues the write of a missing mark, and returns a channel that is closed after the write; nil if there is
// nothing to wait for.
func (m *Marks) enqueue(project string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, marked := m.known[project]; marked && !found.leaving {
		return nil
	}
	written := m.pending[project]
	switch {
	case written == nil && len(m.pending) >= maxPending:
		m.results.WithLabelValues(resultDropped).Inc()
		return nil
	case written == nil:
		written = make(chan struct{})
		m.pending[project] = written
		m.queue.Add(project)
	}
	if m.away {
		return nil
	}
	return written
}

// metadata is an empty mark, of the type that is watched.
func metadata() *metav1.PartialObjectMetadata {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return found
}
