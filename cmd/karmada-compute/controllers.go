// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"

	"github.com/karmada-compute/karmada-compute/hub"
	"github.com/karmada-compute/karmada-compute/hub/footprint"
	hubprojects "github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/milo"
)

// controllers sets up the selected controllers and returns the function that runs them. No connection is made before that.
func (a *app) controllers(p *planes) (func(context.Context) error, error) {
	locations := milo.Locations{}
	projects, err := a.provider(p, locations)
	if err != nil {
		return nil, err
	}
	if err := projects.RegisterMetrics(metrics.Registry); err != nil {
		return nil, err
	}
	p.watch.AddHandler(projects)
	metering, err := a.metering(p)
	if err != nil {
		return nil, err
	}
	mgr, err := a.newManager(p, projects)
	if err != nil {
		return nil, err
	}
	present := footprint.New(mgr.GetLocalManager().GetCache())
	if err := mgr.GetLocalManager().Add(present); err != nil {
		return nil, fmt.Errorf("watch the hub namespaces: %w", err)
	}
	projects.AddNeeds(present)
	if err := a.builder.SetUpControllers(hub.Target{Manager: mgr, Options: hub.Options{
		Projects: projects, Locations: locations, Network: milo.NetworkingGroupVersion.WithKind(milo.KindNetwork), Clock: clock.RealClock{},
		Concurrency: a.options.hub.concurrency, ProjectConcurrency: a.options.milo.projectConcurrency,
		Types: p.types, DefaultType: a.options.hub.defaultType,
		FailoverAfter: a.options.hub.failoverAfter, InventoryAfter: a.options.hub.inventoryAfter,
		Existence: projects, Suspension: projects, Waker: projects, Visits: projects, WithdrawAfter: a.options.milo.withdrawAfter,
		AuditInterval: a.options.hub.auditInterval, AuditAfter: a.options.hub.auditAfter,
		Metering: metering, Features: a.options.webhook.features,
	}}); err != nil {
		return nil, err
	}
	return mgr.Start, nil
}

// provider engages the projects that have Workloads, or all of them.
func (a *app) provider(p *planes, locations milo.Locations) (*milo.Provider, error) {
	o := milo.ProviderOptions{
		Root: p.milo, Scheme: p.scheme, Kinds: hub.ProjectKinds(locations), Shards: a.options.milo.shards, Log: ctrl.Log.WithName("projects"),
		Patience: p.patience, Using: hub.UsingKinds(), IdleAfter: a.options.milo.idleAfter, Sweep: a.options.milo.sweep,
	}
	if p.marks != nil {
		o.Marks = p.marks
	}
	return milo.NewProvider(o)
}

// metering says which projects' Instances need quota; nil: no quota is configured.
func (a *app) metering(p *planes) (hubprojects.Metering, error) {
	if !a.options.milo.quota {
		return nil, nil
	}
	selector, err := labels.Parse(a.options.milo.quotaProjects)
	if err != nil {
		return nil, fmt.Errorf("--quota-projects: %w", err)
	}
	metering := milo.NewMetering(selector)
	p.watch.AddHandler(metering)
	return metering, nil
}

func (a *app) newManager(p *planes, projects *milo.Provider) (mcmanager.Manager, error) {
	cacheOptions, err := hub.CacheOptions()
	if err != nil {
		return nil, err
	}
	leases, err := client.New(p.hub, client.Options{Scheme: p.scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for the hub: %w", err)
	}
	coordinator := milo.NewCoordinator(projects, milo.CoordinatorOptions{
		Client: leases, Namespace: a.options.hub.namespace, Replica: a.options.milo.replicaName,
		LeaseDuration: a.options.milo.leaseDuration, Clock: clock.RealClock{}, Log: ctrl.Log.WithName("shards"),
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
