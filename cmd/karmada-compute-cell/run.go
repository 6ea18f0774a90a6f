// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell"
)

// component is the name of this program in the user agent and the Lease.
const component = "karmada-compute-cell"

// run runs the controllers until ctx ends.
func run(ctx context.Context, o *options) error {
	logger := newLogger(o)
	klog.SetLogger(logger)
	ctrl.SetLogger(logger)
	config, err := newConfig(o)
	if err != nil {
		return err
	}
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	if err := cell.Setup(mgr, cell.Options{Concurrency: o.cell.concurrency, Clock: clock.RealClock{}}); err != nil {
		return fmt.Errorf("set up the controllers: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("cache", synced(mgr.GetCache())); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("run the controllers: %w", err)
	}
	return nil
}

func newLogger(o *options) logr.Logger {
	// logr's verbosity n is slog's level -n.
	handlerOptions := &slog.HandlerOptions{Level: slog.Level(-o.log.verbosity)}
	var handler slog.Handler = slog.NewTextHandler(os.Stderr, handlerOptions)
	if o.log.format == "json" {
		handler = slog.NewJSONHandler(os.Stderr, handlerOptions)
	}
	logger := logr.FromSlogHandler(handler)
	if o.cell.name != "" {
		logger = logger.WithValues("cell", o.cell.name)
	}
	return logger
}

func newConfig(o *options) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.cell.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("load the configuration of the cell (outside of a cluster, set --kubeconfig): %w", err)
	}
	config.QPS, config.Burst = o.cell.qps, o.cell.burst
	config.UserAgent = component
	if o.cell.name != "" {
		config.UserAgent += "/" + o.cell.name
	}
	return config, nil
}

func newManager(config *rest.Config, o *options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	cacheOptions, err := cell.CacheOptions()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions,
		Metrics: metricsserver.Options{
			BindAddress: o.serve.metrics, SecureServing: true, CertDir: o.serve.metricsCertDir,
			TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }},
		},
		HealthProbeBindAddress:        o.serve.healthProbe,
		LeaderElection:                o.election.enabled,
		LeaderElectionID:              component,
		LeaderElectionNamespace:       o.election.namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 new(15 * time.Second),
		RenewDeadline:                 new(10 * time.Second),
		RetryPeriod:                   new(2 * time.Second),
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	return mgr, nil
}

// synced is ready once the cache has listed all objects.
func synced(c cache.Cache) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), 500*time.Millisecond)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return errors.New("the cache has not listed all objects of the cell yet")
		}
		return nil
	}
}
