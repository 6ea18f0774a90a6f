// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package live keeps the state of a Workload up to date and shows it as it changes.
package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const (
	// gather is how long changes are collected before the tree is shown again. Conditions, counts and Instances of one
	// event arrive as several changes within a few milliseconds.
	gather = 100 * time.Millisecond
	// tick is the interval at which a terminal's clock is updated while nothing changes.
	tick = time.Second
)

// Plane is a control plane to watch.
type Plane struct {
	Config *rest.Config
	Client client.Client
}

// Options holds the objects to watch.
type Options struct {
	// Project and Hub are watched if they are not nil.
	Project, Hub *Plane
	// ProjectName selects the copies of the project on the hub.
	ProjectName string
	// Key of the Workload. Without a name all Workloads of the namespace are watched, and without a namespace the Workloads of
	// all namespaces.
	Key types.NamespacedName
	// Selector selects Workloads. If it is not nil, their Instances are not watched.
	Selector labels.Selector
	// Now is the clock.
	Now func() time.Time
	// All shows each Instance, also where many are equal.
	All bool
}

// Watch keeps the objects of one Workload, or of all Workloads in a namespace, in caches. Kinds that the user may not
// list are requested each time, and left out.
type Watch struct {
	options Options
	planes  view.Planes
	// events are the caches of events, by plane and namespace.
	events map[eventsKey]client.Reader
	// changed holds a token while there are changes that are not shown yet.
	changed chan struct{}

	mu sync.Mutex
	// problem is the reason why the shown state may be outdated, with its time.
	problem error
	since   time.Time
	// told is the problem that TellProblem has printed.
	told string
}

// Start starts watches that end with ctx. hidden holds the kinds that the user may not list.
func Start(ctx context.Context, o Options, hidden map[string]error) (*Watch, error) {
	w := &Watch{
		options: o, changed: make(chan struct{}, 1), events: map[eventsKey]client.Reader{}, planes: view.Planes{ProjectName: o.ProjectName},
	}
	if o.Project != nil {
		reader, err := w.watch(ctx, o.Project, w.projectKinds(hidden))
		if err != nil {
			return nil, fmt.Errorf("watch the project: %w", err)
		}
		w.planes.Project = reader
	}
	if o.Hub != nil {
		reader, err := w.watch(ctx, o.Hub, w.hubKinds(hidden))
		if err != nil {
			return nil, fmt.Errorf("watch the hub: %w", err)
		}
		w.planes.Hub = reader
	}
	return w, nil
}

func (w *Watch) projectKinds(hidden map[string]error) map[client.Object]ctrlcache.ByObject {
	inNamespace := map[string]ctrlcache.Config{w.options.Key.Namespace: {}}
	kinds := map[client.Object]ctrlcache.ByObject{}
	name, ofWorkload, selected := fields.Everything(), labels.Everything(), labels.Everything()
	if w.options.Selector != nil {
		selected = w.options.Selector
	}
	if w.options.Key.Name != "" {
		name = fields.OneTermEqualSelector("metadata.name", w.options.Key.Name)
		ofWorkload = labels.SelectorFromSet(labels.Set{v1alpha.LabelWorkloadName: w.options.Key.Name})
	}
	if hidden["workloads"] == nil {
		kinds[&v1alpha.Workload{}] = ctrlcache.ByObject{Namespaces: inNamespace, Field: name, Label: selected}
	}
	if hidden["workloaddeployments"] == nil {
		kinds[&v1alpha.WorkloadDeployment{}] = ctrlcache.ByObject{Namespaces: inNamespace}
	}
	if hidden["instances"] == nil && w.options.Selector == nil {
		kinds[&v1alpha.Instance{}] = ctrlcache.ByObject{Namespaces: inNamespace, Label: ofWorkload}
	}
	return kinds
}

func (w *Watch) hubKinds(hidden map[string]error) map[client.Object]ctrlcache.ByObject {
	kinds := map[client.Object]ctrlcache.ByObject{}
	if hidden["clusters"] == nil {
		kinds[&clusterv1alpha1.Cluster{}] = ctrlcache.ByObject{}
	}
	if hidden["workloaddeployments of the hub"] == nil {
		kinds[&v1alpha.WorkloadDeployment{}] = ctrlcache.ByObject{Label: labels.SelectorFromSet(labels.Set{
			v1alpha.LabelProject:          naming.ProjectLabel(w.options.ProjectName),
			v1alpha.LabelProjectNamespace: w.options.Key.Namespace,
		})}
	}
	return kinds
}

// watch watches these kinds on a plane, and waits until their caches are filled.
func (w *Watch) watch(ctx context.Context, plane *Plane, kinds map[client.Object]ctrlcache.ByObject) (client.Reader, error) {
	result := &reader{live: plane.Client, cached: map[string]bool{}}
	config := rest.CopyConfig(plane.Config)
	config.Timeout = 0 // it bounds one request, and a watch does not end
	objects, err := ctrlcache.New(config, ctrlcache.Options{
		Scheme: plane.Client.Scheme(), Mapper: plane.Client.RESTMapper(), ByObject: kinds, DefaultWatchErrorHandler: w.failed,
	})
	if err != nil {
		return nil, err
	}
	result.cache = objects
	for object := range kinds {
		result.cached[result.kind(object)] = true
		informer, err := objects.GetInformer(ctx, object, ctrlcache.BlockUntilSynced(false))
		if err != nil {
			return nil, err
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { w.wake() }, UpdateFunc: func(any, any) { w.wake() }, DeleteFunc: func(any) { w.wake() },
		}); err != nil {
			return nil, err
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- objects.Start(ctx) }()
	if !objects.WaitForCacheSync(ctx) {
		return nil, errors.Join(errors.New("the caches did not sync"), context.Cause(ctx))
	}
	select {
	case err := <-ended:
		return nil, fmt.Errorf("the watches ended: %w", errors.Join(err, context.Cause(ctx)))
	default:
		return result, nil
	}
}

func (w *Watch) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// failed records why a watch ended, unless the reason is usual.
func (w *Watch) failed(_ context.Context, _ *cache.Reflector, err error) {
	if errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	w.mu.Lock()
	if w.problem == nil {
		w.since = w.options.Now()
	}
	w.problem = err
	w.mu.Unlock()
	w.wake()
}

// Failed records that an object could not be read. Problem returns the error until the API servers answer again.
func (w *Watch) Failed(ctx context.Context, err error) { w.failed(ctx, nil, err) }

// Err returns why the state may be outdated, or nil.
func (w *Watch) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.problem
}

// Problem returns the reason why the shown state may be outdated, or "".
func (w *Watch) Problem() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problem == nil {
		return ""
	}
	return fmt.Sprintf("! not updated since %s: %s", w.since.UTC().Format("15:04:05Z"), w.problem)
}

// TellProblem prints once that changes may be missing at present, and later that they are complete again. It is not for
// concurrent use.
func (w *Watch) TellProblem(out io.Writer) error {
	before, now := w.told, w.Problem()
	w.told = now
	var err error
	switch {
	case now != "" && before == "":
		_, err = fmt.Fprintln(out, reasons.Clean(now))
	case now == "" && before != "":
		_, err = fmt.Fprintln(out, "followed again")
	}
	return err
}

// check clears the problem if the API servers answer again. It does not check a problem of missing rights.
func (w *Watch) check(ctx context.Context) {
	w.mu.Lock()
	problem := w.problem
	w.mu.Unlock()
	if problem == nil || apierrors.IsForbidden(problem) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tick)
	defer cancel()
	for _, plane := range []*Plane{w.options.Project, w.options.Hub} {
		if plane == nil {
			continue
		}
		list := &v1alpha.WorkloadDeploymentList{}
		if err := plane.Client.List(ctx, list, client.InNamespace(w.options.Key.Namespace), client.Limit(1)); err != nil &&
			!apierrors.IsForbidden(err) {
			return
		}
	}
	w.mu.Lock()
	w.problem = nil
	w.mu.Unlock()
}

// Planes returns the watched planes: what is watched is read from caches.
func (w *Watch) Planes() view.Planes { return w.planes }

// Snapshot returns the present state.
func (w *Watch) Snapshot(ctx context.Context) (*view.Snapshot, error) {
	return w.SnapshotOf(ctx, w.options.Key.Name)
}

// SnapshotOf returns the present state of one of several watched Workloads.
func (w *Watch) SnapshotOf(ctx context.Context, name string) (*view.Snapshot, error) {
	snapshot, err := view.Read(ctx, w.planes, types.NamespacedName{Namespace: w.options.Key.Namespace, Name: name})
	if err != nil {
		return nil, err
	}
	snapshot.Now = w.options.Now()
	return snapshot, nil
}

// Wait returns when an object has changed or the clock must be updated.
func (w *Watch) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(tick):
		w.check(ctx)
		return nil
	case <-w.changed:
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(gather):
		return nil
	}
}

// Follow shows the tree of the Workload as it changes, until the Workload is gone, ctx ends, or the reader of the output
// is gone.
func (w *Watch) Follow(ctx context.Context, screen *terminal.Screen, wide bool) error {
	defer screen.End()
	return w.Each(ctx, func(s *view.Snapshot) (bool, error) {
		screen.Show(w.lines(s, view.Layout{Columns: max(screen.Columns()-indent, 0), Wide: wide, All: w.options.All}))
		return s.Gone(), screen.Err()
	})
}

// Each calls do with each state, and with each tick of a terminal's clock, until do returns done.
func (w *Watch) Each(ctx context.Context, action func(*view.Snapshot) (done bool, err error)) error {
	var current *view.Snapshot
	for {
		read, err := w.Snapshot(ctx)
		switch {
		case err == nil:
			current = read
		case current == nil || ctx.Err() != nil:
			return err
		default:
			w.failed(ctx, nil, err)
		}
		if done, err := action(current); done || err != nil {
			return err
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
	}
}

// indent is the indentation of a screen's block.
const indent = 2

func (w *Watch) lines(s *view.Snapshot, l view.Layout) []string {
	var lines []string
	if problem := w.Problem(); problem != "" {
		lines = append(lines, terminal.Wrap(reasons.Clean(problem), l.Columns)...)
	}
	if s.Gone() {
		return append(lines, "no objects")
	}
	return append(lines, s.Tree().Lines(l)...)
}

type eventsKey struct {
	plane     *Plane
	namespace string
}

// Events reads the events in a namespace of a plane from a watch, which starts with the first read: the hub namespaces
// of a Workload are known only once they exist. A user who may not list events gets the API server's refusal.
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
