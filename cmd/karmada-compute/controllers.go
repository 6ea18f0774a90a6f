// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/hub"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/deployments"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	hubprojects "github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/milo/peers"
)

// controllers returns the function that sets up and runs the selected controllers. It opens no connection before that
// function runs. The function begins when the hub answers: the creation of a manager requests the hub's kinds.
func (a *app) controllers(p *planes, begun *atomic.Bool) (func(context.Context) error, error) {
	projects, err := a.provider(p)
	if err != nil {
		return nil, err
	}
	projects.RegisterMetrics(metrics.Registry)
	p.watch.AddHandler(projects)
	metering, err := a.metering(p)
	if err != nil {
		return nil, err
	}
	hubServer := component.Server{
		Name: "the hub", Flag: "--kubeconfig", Config: p.hub, Clock: clock.RealClock{}, Log: ctrl.Log.WithName("start"),
	}
	return func(ctx context.Context) error {
		if err := hubServer.Await(ctx); err != nil {
			return err
		}
		mgr, err := a.setUp(ctx, p, hub.Options{Projects: projects, Locations: p.locations, Metering: metering}, projects)
		if err != nil {
			return err
		}
		begun.Store(true)
		return mgr.Start(ctx)
	}, nil
}

// setUp creates the manager with the selected controllers, and completes their options.
func (a *app) setUp(ctx context.Context, p *planes, o hub.Options, projects *milo.Provider) (mcmanager.Manager, error) {
	mgr, err := a.newManager(ctx, p, projects)
	if err != nil {
		return nil, err
	}
	present := ownership.NewFootprint(mgr.GetLocalManager().GetCache())
	if err := mgr.GetLocalManager().Add(present); err != nil {
		return nil, fmt.Errorf("watch the hub namespaces: %w", err)
	}
	projects.AddNeeds(present)
	local := mgr.GetLocalManager()
	brake := ownership.NewBrake(ownership.BrakeOptions{
		Milo: projects, Plane: projects.Plane(), Hub: local.GetClient(), APIReader: local.GetAPIReader(),
		Namespace: a.options.hub.namespace, Clock: clock.RealClock{},
	})
	if err := local.Add(brake); err != nil {
		return nil, fmt.Errorf("record the identity of the projects' API server: %w", err)
	}
	o.Owners = ownership.New(ownership.Options{
		Projects: o.Projects, Milo: projects, Brake: brake, Waker: projects, Recreated: deployments.Wants(o.Locations),
	})
	projects.SetOwners(o.Owners)
	o.Existence, o.Suspension, o.Waker, o.Visits = projects, projects, projects, projects
	o.Network, o.Clock = milo.NetworkingGroupVersion.WithKind(milo.KindNetwork), clock.RealClock{}
	o.Concurrency, o.ProjectConcurrency = a.options.hub.concurrency, a.options.milo.projectConcurrency
	o.SharesTypes = p.namespaces != nil
	o.Types, o.DefaultType, o.Features = p.types, a.options.hub.defaultType, a.options.webhook.features
	o.FailoverAfter, o.InventoryAfter, o.WithdrawAfter = a.options.hub.failoverAfter, a.options.hub.inventoryAfter,
		a.options.milo.withdrawAfter
	o.AuditInterval, o.AuditAfter = a.options.hub.auditInterval, a.options.hub.auditAfter
	o.HoldCities, o.MaxDataBytes = a.options.hub.holdCities, a.options.hub.maxDataBytes
	if o.Names, err = a.options.names.settings(); err != nil {
		return nil, err
	}
	o.Probe = probe.Options{Interval: a.options.names.probeInterval, Resolver: a.options.names.resolver, Servers: p.servers()}
	o.Refusals, o.Namespace = hub.NewRefusals(projects, metrics.Registry), a.options.hub.namespace
	return mgr, a.builder.SetUpControllers(hub.Target{Manager: mgr, Options: o})
}

// servers are the API servers of this replica: the hub, Milo and the one of its own cluster.
func (p *planes) servers() []string {
	servers := []string{p.hub.Host}
	if p.milo != nil {
		servers = append(servers, p.milo.Host)
	}
	if host := os.Getenv("KUBERNETES_SERVICE_HOST"); host != "" {
		servers = append(servers, host)
	}
	return servers
}

// provider engages the projects that have Workloads, or all of them.
func (a *app) provider(p *planes) (*milo.Provider, error) {
	o := milo.ProviderOptions{
		Root: p.milo, Scheme: p.scheme, Kinds: hub.ProjectKinds(p.locations), Shards: a.options.milo.shards, Log: ctrl.Log.WithName("projects"),
		Patience: p.patience, Using: hub.UsingKinds(), IdleAfter: a.options.milo.idleAfter, Sweep: a.options.milo.sweep,
	}
	switch {
	case p.namespaces != nil:
		// The cache has all projects: none has to be visited.
		o.Planes, o.Marks, o.Sweep = p.namespaces, p.namespaces.Uses(), 0
	case p.marks != nil:
		o.Marks = p.marks
	}
	return milo.NewProvider(o)
}

// metering reports which projects' Instances need quota; nil: no quota is configured.
func (a *app) metering(p *planes) (hubprojects.Metering, error) {
	if !a.options.milo.quota {
		return nil, nil
	}
	selector, err := a.options.milo.metered()
	if err != nil {
		return nil, err
	}
	metering := milo.NewMetering(selector)
	p.watch.AddHandler(metering)
	return metering, nil
}

// listenToPeers returns where other replicas ping this one; nil: nowhere.
func (a *app) listenToPeers(p *planes) (*peers.Peers, error) {
	if a.options.milo.peers == "0" {
		return nil, nil
	}
	return peers.Listen(context.Background(), peers.Options{Address: a.options.milo.peers, Hub: p.hub.Host})
}

func (a *app) newManager(ctx context.Context, p *planes, projects *milo.Provider) (mcmanager.Manager, error) {
	leases, err := client.New(p.hub, client.Options{Scheme: p.scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for the hub: %w", err)
	}
	identity, err := cells.NewHub(leases).UID(ctx)
	if err != nil {
		return nil, err
	}
	cacheOptions, err := hub.CacheOptions(identity)
	if err != nil {
		return nil, err
	}
	pinged, err := a.listenToPeers(p)
	if err != nil {
		return nil, err
	}
	coordinator := milo.NewCoordinator(projects, milo.CoordinatorOptions{
		Client: leases, Namespace: a.options.hub.namespace, Replica: a.options.milo.replicaName,
		LeaseDuration: a.options.milo.leaseDuration, Peers: pinged, Clock: clock.RealClock{}, Log: ctrl.Log.WithName("shards"),
	})
	mgr, err := mcmanager.New(p.hub, projects, ctrl.Options{
		Scheme: p.scheme,
		Cache:  cacheOptions,
		// webhook/server serves metrics and probes, also in a process without controllers.
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		// Less than the grace period of a Pod.
		GracefulShutdownTimeout: new(10 * time.Second),
		// No leader: the coordinator divides the projects among the replicas, and every replica serves webhooks.
		LeaderElection: false,
	}, mcmanager.WithCoordinator(coordinator))
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	return mgr, nil
}
