// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell"
	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/internal/listeners"
)

// name is the name of this program, also in the user agent and the Lease.
const name = "karmada-compute-cell"

// run runs the controllers until ctx ends, and serves probes from the start.
func run(ctx context.Context, o *options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	health := &component.Health{}
	group.Go(func() error { return health.Serve(ctx, o.endpoints.Health) })
	group.Go(func() error {
		defer stop()
		if err := runControllers(ctx, o, health); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	return group.Wait()
}

// runControllers runs the controllers as soon as the cell's API server answers.
func runControllers(ctx context.Context, o *options, health *component.Health) error {
	config, err := newConfig(o)
	if err != nil {
		return err
	}
	pods, err := o.pods.settings()
	if err != nil {
		return err
	}
	// Making a manager asks it for its kinds.
	server := component.Server{
		Name: "the API server of the cell", Flag: "--kubeconfig, $KUBECONFIG or the Pod's service account",
		Config: config, Clock: clock.RealClock{}, Log: logger(o).WithName("start"),
	}
	if err := server.Await(ctx); err != nil {
		return err
	}
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	if err := cell.Setup(mgr, cell.Options{
		Concurrency: o.cell.concurrency, Clock: clock.RealClock{}, AuditInterval: o.cell.auditInterval, Registerer: metrics.Registry,
		Runtime: pods, SessionUsers: o.cell.sessionUsers,
	}); err != nil {
		return fmt.Errorf("set up the controllers: %w", err)
	}
	health.SetReady(synced(mgr.GetCache()))
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run the controllers: %w", err)
	}
	return nil
}

func newConfig(o *options) (*rest.Config, error) {
	config, err := component.LoadConfig(o.cell.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("load the configuration of the cell (outside of a cluster, set --kubeconfig or $KUBECONFIG): %w", err)
	}
	o.cell.client.Apply(config)
	config.UserAgent = name
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
	lock, err := newLock(config, o.election)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions,
		Logger: logger(o),
		// serveMetrics serves them.
		Metrics: metricsserver.Options{BindAddress: "0"},
		// component.Health serves probes, also before there is a manager.
		HealthProbeBindAddress:              "0",
		LeaderElection:                      o.election.enabled,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       new(leaseDuration),
		RenewDeadline:                       new(renewDeadline),
		RetryPeriod:                         new(retryPeriod),
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	return mgr, serveMetrics(mgr, o)
}

// serveMetrics lets the manager serve the metrics to callers that may get them.
func serveMetrics(mgr ctrl.Manager, o *options) error {
	if o.endpoints.Metrics == "0" {
		return nil
	}
	filter, err := filters.WithAuthenticationAndAuthorization(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("set up the authentication of callers of the metrics: %w", err)
	}
	tokens := listeners.NewTokens(clock.RealClock{})
	return mgr.Add(&listeners.Metrics{
		Address: o.endpoints.Metrics, CertDir: o.endpoints.MetricsCertDir, Others: o.endpoints.Profiles(),
		Guard: func(page http.Handler) (http.Handler, error) {
			return tokens.Guard(page, func(next http.Handler) (http.Handler, error) {
				return filter(mgr.GetLogger().WithName("metrics"), next)
			})
		},
	})
}

// logger names the cell in every line of the controllers, for logs of many cells in one place.
func logger(o *options) logr.Logger {
	if o.cell.name == "" {
		return ctrl.Log
	}
	return ctrl.Log.WithValues("cell", o.cell.name)
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

// Times of leader election, such that another replica leads at most 15 s after the leader was killed: see
// TestWorstTakeover.
const (
	leaseDuration = 10 * time.Second
	// renewDeadline is the time for which a leader that cannot renew its Lease continues.
	renewDeadline = 7 * time.Second
	// retryPeriod is the interval between renewals. Other candidates request the Lease after up to 2.2 times as long.
	retryPeriod = time.Second
)

// newLock creates the Lease of leader election. Its holder is --leader-elect-identity: a container that was killed and
// restarted has the Lease at once, because it still holds it.
func newLock(config *rest.Config, election electionOptions) (resourcelock.Interface, error) {
	if !election.enabled {
		return nil, nil
	}
	identity := election.identity
	if identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("read the host name, see --leader-elect-identity: %w", err)
		}
		// Processes on one host share its name.
		identity = host + "_" + string(uuid.NewUUID())
	}
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	// A request that hangs must not cost the leadership.
	config.Timeout = renewDeadline / 2
	leases, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the Lease of leader election: %w", err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: election.namespace, Name: name},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}, nil
}
