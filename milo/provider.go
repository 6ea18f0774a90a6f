// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/clusters"
	"sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/basic"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/milo/shards"
)

// ProviderOptions configure a Provider.
type ProviderOptions struct {
	// Root is the configuration for Milo's root. It is not used with Planes.
	Root *rest.Config
	// Planes are the control planes of projects. Nil: Milo's control planes.
	Planes Planes
	// Scheme has every type that controllers read or write in a project, and the types of this package.
	Scheme *runtime.Scheme
	// Kinds are watched by controllers in every project. Their informers are synced before controllers are engaged with
	// the project, so that no controller waits for a project while it holds a lock.
	Kinds []client.Object
	// Shards is the number of shards. It must be the same on every replica.
	Shards int
	// Using are the kinds whose objects show that a project is in use. They are among Kinds.
	Using []client.Object
	// IdleAfter is the time after which an unneeded project is disengaged. 0: all projects are engaged, always.
	IdleAfter time.Duration
	// Sweep is the time in which every project that is not engaged is visited once. 0: none is.
	Sweep time.Duration
	// Marks report which projects have Workloads, or are about to. They are required with IdleAfter.
	Marks Marks
	// Patience lets the projects' informers wait for an unavailable Milo. Nil: the Provider creates one.
	Patience *Patience
	// Clock is for idle projects and visits. Nil: the real one.
	Clock clock.WithTicker
	// Log gets the projects that are engaged and disengaged.
	Log logr.Logger
}

// Provider runs a cluster with a cache for each needed project whose shard this replica owns. It receives the Projects
// as a handler of a Watch. It implements multicluster.Provider and multicluster.ProviderRunnable, and needs the
// coordinator of NewCoordinator. All methods are safe for concurrent use.
type Provider struct {
	options ProviderOptions
	planes  Planes
	root    client.Reader
	// controllers are engaged with each project.
	controllers *basic.Coordinator
	// due are the projects to be visited, and counts the metrics of visits.
	due    workqueue.TypedDelayingInterface[string]
	counts visitCounts
	// recorder writes Events at Milo's root. It is created with the first Event.
	recorder func() (record.EventRecorder, error)
	// replica is nil until there is a coordinator.
	replica atomic.Pointer[shards.Replica]
	// leaveAfter is the constant, except in tests.
	leaveAfter time.Duration

	// mu guards the fields below. It is never held during a request to a server.
	mu       sync.RWMutex
	indexes  []clusters.Index
	known    map[string]existing
	owned    map[int]context.Context
	projects map[string]*engagement
	// suspended are the Projects that are suspended.
	suspended map[string]bool
	// changed are called without the lock.
	changed, suspensions []func(project string)
	// needs report which projects are needed, and visitors are called at a visit.
	needs    []Needs
	visitors []visitor
	// scheduled are the projects that wait in due.
	scheduled map[string]types.UID
	// departed are projects that were gone a moment ago.
	departed map[string]struct{}
	// owners decides which projects are gone.
	owners Owners
	// astray is since when a mark has been seen of a project that does not exist.
	astray map[string]time.Time
}

// existing is a project that exists.
type existing struct {
	uid types.UID
	// since is when the project was created, or seen again after its deletion.
	since time.Time
	// isQuiet reports that no object may be written in the project: it is being deleted, or suspended.
	isQuiet bool
}

// engagement is a project that runs on this replica.
type engagement struct {
	uid    types.UID
	cancel context.CancelFunc
	// cluster is nil until every informer has synced.
	cluster cluster.Cluster
	// used is when the project was last needed.
	used time.Time
	// leaving is nil unless the project is about to be released.
	leaving *leaving
}

// NewProvider creates a Provider. It sends no request before it is started.
func NewProvider(options ProviderOptions) (*Provider, error) {
	if options.Shards < 1 {
		return nil, fmt.Errorf("the number of shards is %d: it must be at least 1", options.Shards)
	}
	if options.IdleAfter > 0 && (options.Marks == nil || len(options.Using) == 0) {
		return nil, errors.New("to disengage projects, set marks and the kinds that are in use")
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	planes, err := options.planes()
	if err != nil {
		return nil, err
	}
	p := &Provider{
		options: options,
		planes:  planes,
		root:    planes.Root(),

		controllers: basic.New(),
		due:         workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: "visits", Clock: options.Clock}),
		counts:      newVisitCounts(),
		recorder:    sync.OnceValues(planes.Recorder),
		leaveAfter:  leaveAfter,

		known:     map[string]existing{},
		owned:     map[int]context.Context{},
		projects:  map[string]*engagement{},
		suspended: map[string]bool{},
		scheduled: map[string]types.UID{},
		departed:  map[string]struct{}{},
		astray:    map[string]time.Time{},
	}
	if options.Marks != nil {
		p.AddNeeds(options.Marks)
	}
	return p, nil
}

// Plane is the name in messages of the API server that has the projects.
func (p *Provider) Plane() string { return p.planes.Name() }

// planes returns the planes of the options, by default Milo's.
func (o *ProviderOptions) planes() (Planes, error) {
	if o.Planes != nil {
		return o.Planes, nil
	}
	mapper, err := NewRESTMapper(o.Scheme)
	if err != nil {
		return nil, err
	}
	if err := checkKinds(mapper, o.Scheme, o.Kinds); err != nil {
		return nil, err
	}
	planes, err := newRemote(o.Root, o.Scheme)
	if err != nil {
		return nil, err
	}
	planes.log, planes.patience = o.Log, o.Patience
	if o.Patience == nil {
		planes.patience, err = NewPatience(PatienceOptions{Root: o.Root, Clock: o.Clock, Log: o.Log})
	}
	return planes, err
}

// Get returns the cluster of a project. It returns multicluster.ErrClusterNotFound for a project that another replica
// owns, or whose cache has not synced yet.
func (p *Provider) Get(_ context.Context, name multicluster.ClusterName) (cluster.Cluster, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	engaged := p.projects[name.String()]
	if engaged == nil || engaged.cluster == nil {
		return nil, fmt.Errorf("project %q: %w", name, multicluster.ErrClusterNotFound)
	}
	return engaged.cluster, nil
}

// UID is the UID of a project that this replica has engaged.
func (p *Provider) UID(name multicluster.ClusterName) (types.UID, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	engaged := p.projects[name.String()]
	if engaged == nil {
		return "", fmt.Errorf("project %q: %w", name, multicluster.ErrClusterNotFound)
	}
	return engaged.uid, nil
}

// IndexField adds an index to every project that is engaged from now on.
func (p *Provider) IndexField(_ context.Context, obj client.Object, field string, extract client.IndexerFunc) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.projects) > 0 {
		return errors.New("an index must be added before the first project is engaged")
	}
	p.indexes = append(p.indexes, clusters.Index{Object: obj, Field: field, Extractor: extract})
	return nil
}

// Start returns when ctx ends. It disengages unneeded projects, and visits the projects that are not engaged.
func (p *Provider) Start(ctx context.Context, _ multicluster.Aware) error {
	context.AfterFunc(ctx, p.due.ShutDown)
	if p.options.IdleAfter <= 0 {
		<-ctx.Done()
		return nil
	}
	var running sync.WaitGroup
	running.Go(func() { p.letGo(ctx) })
	for range visitors {
		running.Go(func() {
			for p.visitNext(ctx) {
				continue
			}
		})
	}
	running.Wait()
	return nil
}

// Observe implements the handler of a Watch.
func (p *Provider) Observe(project *Project) {
	p.observeSuspension(project)
	// A project that is being deleted stays engaged, since controllers must remove finalizers, and so does a suspended
	// one, since its Instances must be stopped. Any other project that is not Ready yet has no control plane.
	if !project.IsDeleting() && !project.IsSuspended() && !project.IsReady() {
		return
	}
	p.mu.Lock()
	before, existed := p.known[project.Name]
	since := project.CreationTimestamp.Time
	if _, isBack := p.departed[project.Name]; isBack {
		// For example, Milo had lost its storage: its marks may have been removed meanwhile.
		delete(p.departed, project.Name)
		since = p.options.Clock.Now()
	}
	p.known[project.Name] = existing{uid: project.UID, since: since, isQuiet: project.IsDeleting() || project.IsSuspended()}
	p.decide(project.Name)
	p.mu.Unlock()
	if existed && before.uid != project.UID {
		p.notify(project.Name)
	}
}

// Forget implements the handler of a Watch.
func (p *Provider) Forget(project *Project) {
	p.mu.Lock()
	if len(p.departed) >= maxDeparted {
		// If they have been recreated, they are visited in turn.
		clear(p.departed)
	}
	p.departed[project.Name] = struct{}{}
	delete(p.known, project.Name)
	delete(p.scheduled, project.Name)
	delete(p.suspended, project.Name)
	p.decide(project.Name)
	p.mu.Unlock()
	p.notify(project.Name)
}

// decide starts or stops the engagement of a project. Only letGo disengages a project that is engaged and exists. p.mu
// is held.
func (p *Provider) decide(project string) {
	known, exists := p.known[project]
	_, owned := p.owned[p.shardOf(project)]
	current := p.projects[project]
	if current != nil {
		if exists && owned && current.uid == known.uid {
			return
		}
		p.disengage(project, current)
	}
	switch {
	case !exists || !owned:
	// A recreated project may still contain old Workloads.
	case current != nil || p.isNeeded(project):
		p.start(project)
	default:
		p.schedule(project)
	}
}

// start starts the engagement of a project that exists and that this replica owns. p.mu is held.
func (p *Provider) start(project string) {
	ctx, cancel := context.WithCancel(p.owned[p.shardOf(project)])
	engaged := &engagement{uid: p.known[project].uid, cancel: cancel, used: p.options.Clock.Now()}
	p.projects[project] = engaged
	go p.run(ctx, project, engaged)
}

// disengage ends an engagement. p.mu is held.
func (p *Provider) disengage(project string, engaged *engagement) {
	engaged.cancel()
	delete(p.projects, project)
}

// engageRetry is the time between attempts to engage a project.
const engageRetry = 5 * time.Second

// run keeps a project engaged until ctx ends. Each project has its own goroutine: one that is slow or does not answer
// delays no other.
func (p *Provider) run(ctx context.Context, project string, engaged *engagement) {
	log := p.options.Log.WithValues("project", project)
	for ctx.Err() == nil {
		err := p.engage(ctx, project, engaged)
		if ctx.Err() != nil {
			return
		}
		log.Error(err, "Project cannot be engaged; retrying", "after", engageRetry)
		select {
		case <-ctx.Done():
		case <-p.options.Clock.After(engageRetry):
		}
	}
}

// engage creates the cluster of a project, waits for its informers and engages the controllers. It returns when the
// cluster has stopped.
func (p *Provider) engage(parent context.Context, project string, engaged *engagement) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	p.mu.RLock()
	indexes := p.indexes
	p.mu.RUnlock()
	cl, err := p.planes.Cluster(project, indexes)
	if err != nil {
		return err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- cl.Start(ctx) }()
	for _, kind := range p.options.Kinds {
		if _, err := cl.GetCache().GetInformer(ctx, kind); err != nil {
			return fmt.Errorf("watch the project's %T: %w", kind, err)
		}
	}
	// GetInformer does not wait for the sync before the cache has started.
	if !cl.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("sync the project's informers: %w", context.Cause(ctx))
	}
	p.mu.Lock()
	engaged.cluster = cl
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		engaged.cluster = nil
		p.mu.Unlock()
	}()
	if err := p.controllers.Engage(ctx, multicluster.ClusterName(project), cl); err != nil {
		return fmt.Errorf("engage the project's controllers: %w", err)
	}
	p.options.Log.Info("Project engaged", "project", project)
	if err := <-stopped; err != nil {
		return fmt.Errorf("the project's cache stopped: %w", err)
	}
	return nil
}
