// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub"
	"github.com/karmada-compute/karmada-compute/milo"
)

// run runs everything until ctx ends.
func run(ctx context.Context, o *options) error {
	hubConfig, err := loadConfig(o.hub.kubeconfig)
	if err != nil {
		return err
	}
	miloConfig, err := loadConfig(o.milo.kubeconfig)
	if err != nil {
		return err
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	locations := milo.Locations{}
	projects, err := milo.NewProvider(milo.ProviderOptions{
		Root: miloConfig, Scheme: scheme, Kinds: hub.ProjectKinds(locations), Shards: o.milo.shards, Log: ctrl.Log.WithName("projects"),
	})
	if err != nil {
		return err
	}
	mgr, err := newManager(o, hubConfig, scheme, projects)
	if err != nil {
		return err
	}
	if err := hub.Setup(mgr, hub.Options{
		Projects: projects, Locations: locations, Clock: clock.RealClock{},
		Concurrency: o.hub.concurrency, ProjectConcurrency: o.milo.projectConcurrency,
	}); err != nil {
		return fmt.Errorf("set up the controllers: %w", err)
	}
	if err := serveWebhooks(mgr.GetWebhookServer(), miloConfig); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("webhooks", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func newManager(o *options, hubConfig *rest.Config, scheme *runtime.Scheme, projects *milo.Provider) (mcmanager.Manager, error) {
	cacheOptions, err := hub.CacheOptions()
	if err != nil {
		return nil, err
	}
	leases, err := client.New(hubConfig, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for the hub: %w", err)
	}
	coordinator := milo.NewCoordinator(projects, milo.CoordinatorOptions{
		Client: leases, Namespace: o.hub.leaseNamespace, Replica: o.milo.replicaName,
		LeaseDuration: o.milo.leaseDuration, Log: ctrl.Log.WithName("shards"),
	})
	mgr, err := mcmanager.New(hubConfig, projects, ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions,
		Metrics: metricsserver.Options{
			BindAddress: o.serve.metrics, SecureServing: true, CertDir: o.webhook.certDir, TLSOpts: []func(*tls.Config){onlyTLS13},
		},
		HealthProbeBindAddress: o.serve.healthProbe,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: o.webhook.bindAddress, Port: o.webhook.port, CertDir: o.webhook.certDir, TLSOpts: []func(*tls.Config){onlyTLS13},
		}),
		// Less than what a supervisor waits before it kills: connections that clients keep open must not use that up.
		GracefulShutdownTimeout: new(10 * time.Second),
		// No leader: the projects are shared among the replicas, and webhooks are everybody's.
		LeaderElection: false,
	}, mcmanager.WithCoordinator(coordinator))
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	return mgr, nil
}

func onlyTLS13(config *tls.Config) { config.MinVersion = tls.VersionTLS13 }

func loadConfig(path string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig %s: %w", path, err)
	}
	// The API servers' own priority and fairness is what limits us.
	config.QPS = -1
	config.UserAgent = "karmada-compute"
	return config, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha.AddToScheme, milo.AddToScheme,
		policyv1alpha1.Install, workv1alpha1.Install, clusterv1alpha1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return scheme, nil
}
