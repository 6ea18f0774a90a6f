// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/autoscaler"
	"github.com/karmada-compute/karmada-compute/cell/collector"
	"github.com/karmada-compute/karmada-compute/cell/deployments"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
	"github.com/karmada-compute/karmada-compute/cell/isolation"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/cell/services"
	"github.com/karmada-compute/karmada-compute/cell/sessions"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// Options configure the controllers.
type Options struct {
	// Runtime configures how this cell runs Pods.
	Runtime runtime.Settings
	// Concurrency is the number of objects that each controller reconciles at the same time.
	Concurrency int
	// Clock gives conditions their transition times and paces writes.
	Clock clock.Clock
	// AuditInterval is the time between two searches for objects that the garbage collector has missed.
	AuditInterval time.Duration
	// SessionUsers are the users of the InstanceSessions credential in the cell.
	SessionUsers []string
	// Registerer gets the metrics.
	Registerer prometheus.Registerer
}

// confirmAfter is the time for which an object must be without its controller before the audit removes it.
const confirmAfter = 20 * time.Second

// reconcileTimeout is the longest that one reconcile may take. One whose API server does not answer fails then and is
// retried.
const reconcileTimeout = time.Minute

// CacheOptions limit the cache to the objects that the controllers read: Pods of Instances, autoscalers and budgets of
// deployments, the cordons of Nodes, their own NetworkPolicies and Services, and namespaces, ConfigMaps and Secrets that
// the hub has sent.
func CacheOptions() (cache.Options, error) {
	ofDeployment, err := labels.NewRequirement(v1alpha.LabelDeploymentName, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select the Pods of Instances: %w", err)
	}
	fromProject, err := labels.NewRequirement(v1alpha.LabelProject, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select what the hub has sent: %w", err)
	}
	ofHub, err := labels.NewRequirement(v1alpha.LabelHub, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select the hub namespaces: %w", err)
	}
	own := labels.SelectorFromSet(labels.Set{v1alpha.LabelManagedBy: v1alpha.ManagedByCell})
	sent := cache.ByObject{Label: labels.NewSelector().Add(*fromProject), Transform: runtime.TrimData}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:                            {Label: labels.NewSelector().Add(*ofDeployment), Transform: runtime.TrimPod},
			&autoscalingv2.HorizontalPodAutoscaler{}: {Label: labels.NewSelector().Add(*ofDeployment)},
			&policyv1.PodDisruptionBudget{}:          {Label: labels.NewSelector().Add(*ofDeployment)},
			&networkingv1.NetworkPolicy{}:            {Label: own},
			&corev1.Service{}:                        {Label: own, Transform: services.KeepOwnFields},
			&corev1.Node{}:                           {Transform: disruption.NodeTransform()},
			// It is read only where sessions are turned on.
			&rbacv1.RoleBinding{}: {Field: fields.OneTermEqualSelector("metadata.name", sessions.Name)},
			// Controllers cache only the metadata of these.
			&corev1.Namespace{}: {
				Label: labels.NewSelector().Add(*ofHub), Transform: watch.StripAnnotations(v1alpha.AnnotationProjectName),
			},
			&corev1.ConfigMap{}: sent,
			&corev1.Secret{}:    sent,
		},
	}, nil
}

// Setup adds every controller to a manager of the cell. Call it before the manager starts.
func Setup(mgr ctrl.Manager, o Options) error {
	if err := owned.Index(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := adapt(mgr, &o.Runtime); err != nil {
		return err
	}
	options := controller.Options{MaxConcurrentReconciles: o.Concurrency, ReconciliationTimeout: reconcileTimeout}
	recorder := mgr.GetEventRecorderFor("karmada-compute-cell") //nolint:staticcheck // As on the hub, core v1 Events.
	keeper := collector.NewKeeper(collector.KeeperOptions{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: recorder, Registerer: o.Registerer,
	})
	evictor, err := disruption.NewEvictor(disruption.Options{
		Config: mgr.GetConfig(), HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Registerer: o.Registerer,
	})
	if err != nil {
		return err
	}
	o.Registerer.MustRegister(disruption.Counts{Reader: mgr.GetClient()})
	for _, controller := range []interface {
		Register(mgr ctrl.Manager, options controller.Options) error
	}{
		&deployments.Reconciler{
			Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Strays: keeper, Evictor: evictor, Recorder: recorder, Clock: o.Clock,
			External: o.Runtime.External,
			Trial:    &runtime.Trial{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Settings: o.Runtime},
		},
		&disruption.Reconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Clock: o.Clock},
		&autoscaler.Reconciler{Client: mgr.GetClient()},
		&isolation.Reconciler{Client: mgr.GetClient()},
		&services.Reconciler{
			Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Clock: o.Clock,
			Exports:  &services.Exports{Mapper: mgr.GetRESTMapper(), Clock: o.Clock},
			Gateways: &services.Exports{Kinds: services.GatewayKinds(), Mapper: mgr.GetRESTMapper(), Clock: o.Clock},
		},
		&sessions.Reconciler{Client: mgr.GetClient(), Users: o.SessionUsers},
		&runtime.Reconciler{
			Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Strays: keeper, Recorder: recorder, Settings: o.Runtime,
			Passing: runtime.NewPassing(o.Clock), Clock: o.Clock,
		},
		rollup.New(mgr.GetClient(), o.Clock),
		collector.New(mgr.GetClient(), mgr.GetAPIReader(), o.Clock),
	} {
		if err := controller.Register(mgr, options); err != nil {
			return fmt.Errorf("register a controller of the cell: %w", err)
		}
	}
	return mgr.Add(collector.NewAuditor(collector.AuditorOptions{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Strays: keeper, Interval: o.AuditInterval, Confirm: confirmAfter,
		Clock: o.Clock, Registerer: o.Registerer,
	}))
}

// adapt leaves out of Pods what the API server of the cell does not serve. A cell that is upgraded later gets it with the next
// start of the agent.
func adapt(mgr ctrl.Manager, settings *runtime.Settings) error {
	reader, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client for the version of the cell's API server: %w", err)
	}
	served, err := reader.ServerVersion()
	if err != nil {
		return fmt.Errorf("get the version of the cell's API server: %w", err)
	}
	if err := settings.AdaptTo(served.GitVersion); err != nil {
		return err
	}
	if settings.WithoutSleep {
		mgr.GetLogger().Info("Pods have no preStop of the agent: this version of Kubernetes does not serve its handler sleep",
			"version", served.GitVersion)
	}
	return nil
}
