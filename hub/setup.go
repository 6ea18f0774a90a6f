// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"fmt"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/collector"
	"github.com/karmada-compute/karmada-compute/hub/deployments"
	"github.com/karmada-compute/karmada-compute/hub/fair"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
	"github.com/karmada-compute/karmada-compute/hub/names"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
	"github.com/karmada-compute/karmada-compute/hub/networks"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projection"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/propagation"
	"github.com/karmada-compute/karmada-compute/hub/quota"
	"github.com/karmada-compute/karmada-compute/hub/references"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// Options configure the controllers.
type Options struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Existence reports which projects exist, and which are in a shard of this replica.
	Existence projects.Roster
	// Owners reports whether the owners of objects on the hub and in cells are gone.
	Owners *ownership.Owners
	// Suspension reports which projects are suspended.
	Suspension projects.Suspension
	// Refusals are the projects that refuse writes because they are suspended. Nil: refusals are not reported.
	Refusals *Refusals
	// Waker engages a project without Workloads that still has objects in a cell.
	Waker projects.Waker
	// Visits are visits to projects without Workloads.
	Visits projects.Visits
	// WithdrawAfter is how long Milo must report a project as absent before the project's leftover objects on the hub
	// are withdrawn; 0: they are never withdrawn.
	WithdrawAfter time.Duration
	// Locations reports the cities that a project may use.
	Locations projects.Locations
	// Types reports the existing instance types. It is shared with admission, and run by the caller.
	Types *instancetypes.Catalogue
	// SharesTypes: projects see the instance types of the hub itself, so no copies are offered to them.
	SharesTypes bool
	// DefaultType is the instance type of Workloads that name none.
	DefaultType string
	// Network is the kind of the networks in a project. It need not be served.
	Network schema.GroupVersionKind
	// Features reports the enabled features.
	Features featuregate.FeatureGate
	// Names are the operator's settings for the DNS names of Workloads.
	Names names.Settings
	// Probe configures the questions to the addresses in these names. Its clock is the one below.
	Probe probe.Options
	// Metering reports the projects whose Instances need quota. Nil: no quota is configured.
	Metering projects.Metering
	// Concurrency is how many objects each controller reconciles at once.
	Concurrency int
	// ProjectConcurrency is how many of these may belong to one project, so that a project whose control plane hangs
	// does not occupy every worker.
	ProjectConcurrency int
	// FailoverAfter is how long a cell may be lost before its Instances move to the other cells of its city; 0: they never
	// move.
	FailoverAfter time.Duration
	// HoldCities lets no placement leave a city that serves nothing, and none return.
	HoldCities bool
	// InventoryAfter is how long a cell and the hub must disagree about the deployments in the cell before the
	// difference is investigated.
	InventoryAfter time.Duration
	// AuditInterval is the interval at which the path of each deployment to its cells is audited when no event requests
	// it.
	AuditInterval time.Duration
	// AuditAfter is how long the path of a deployment to its cells may be broken before the cells' last report counts
	// as unknown, and before the audit triggers a Karmada reconcile.
	AuditAfter time.Duration
	// MaxDataBytes bounds the bytes of all ConfigMaps and Secrets of a project that are copied to the hub. 0: no bound.
	MaxDataBytes int
	// Namespace is the namespace of the add-on's own objects on the hub.
	Namespace string
	// Clock gives conditions their transition times and measures how long a cell has been lost.
	Clock clock.Clock
}

// reconcileTimeout bounds one reconcile: a control plane that does not answer ends it with an error, and the object is
// requeued.
const reconcileTimeout = 30 * time.Second

// Controller is one of the hub's controllers, by its name in --controllers.
type Controller struct {
	// Name of the controller.
	Name string
	// Setup adds the controller to a manager.
	Setup func(Target) error
}

// Target holds the arguments of Controller.Setup.
type Target struct {
	// Manager runs the controllers.
	Manager mcmanager.Manager
	// Options are for all controllers.
	Options Options
}

func (t Target) controller() mccontroller.Options {
	return mccontroller.Options{
		MaxConcurrentReconciles: t.Options.Concurrency, ReconciliationTimeout: reconcileTimeout,
		NewQueue: fair.NewQueue(t.Options.ProjectConcurrency),
	}
}

// passing returns the delayed writes of transient states of a controller. A project with many objects does not delay
// the states of other projects.
func (t Target) passing() *pace.Writes[mcreconcile.Request] {
	return pace.NewGroupedWrites(t.Options.Clock, func(r mcreconcile.Request) string { return r.ClusterName.String() })
}

func (t Target) wrap(f mcreconcile.Func) mcreconcile.Func {
	return withoutConflicts(f, t.Options.Refusals)
}

// setUpAudit adds the controller that repairs the paths of deployments.
func setUpAudit(t Target, s *shared) error {
	if err := s.set(t); err != nil {
		return err
	}
	metrics.Registry.MustRegister(collector.Faults{Book: s.book})
	local := t.Manager.GetLocalManager()
	r := collector.NewDeployments(collector.DeploymentsOptions{
		Projects: t.Options.Projects, Waker: t.Options.Waker, Hub: s.hub(t), APIReader: local.GetAPIReader(), Owners: t.Options.Owners,
		Withdraw: s.propagation.Withdraw, Karmada: s.karmada, Repairer: s.repairer, Book: s.book,
		Interval: t.Options.AuditInterval, After: t.Options.AuditAfter, Clock: t.Options.Clock,
	})
	return r.Register(t.Manager, t.controller(), t.wrap)
}

// setUpQuota adds the controller that claims quota, and logs once whether quota is configured.
func setUpQuota(t Target) error {
	local := t.Manager.GetLocalManager()
	configured := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "karmada_compute_quota_configured",
		Help: "1 if Instances need quota of their projects, 0 if every Instance starts without quota.",
	})
	metrics.Registry.MustRegister(configured)
	if t.Options.Metering == nil {
		local.GetLogger().Info("No quota is configured: every Instance starts without (--quota)", "reason", v1alpha.ReasonQuotaDisabled)
		return nil
	}
	configured.Set(1)
	r := quota.New(quota.Options{
		Projects: t.Options.Projects, Existence: t.Options.Existence, Hub: local.GetClient(), Clock: t.Options.Clock,
		Registerer: metrics.Registry,
	})
	return r.Register(t.Manager, t.controller(), t.wrap)
}

// binder is nil where the feature is off.
func (t Target) binder() propagation.Networks {
	if t.Options.Features == nil || !t.Options.Features.Enabled(NetworkBinding) {
		return nil
	}
	return networks.NewBinder(t.Options.Locations, t.Options.Clock, metrics.Registry)
}

// Controllers are all of the hub's controllers.
func Controllers() []Controller {
	common := &shared{namespaces: projects.NewNamespaces()}
	return []Controller{
		{Name: "deployments", Setup: func(t Target) error {
			if err := common.set(t); err != nil {
				return err
			}
			prober, err := common.asks(t)
			if err != nil {
				return err
			}
			r := &deployments.Reconciler{
				Projects: t.Options.Projects, Locations: t.Options.Locations, Types: t.Options.Types, DefaultType: t.Options.DefaultType,
				Networks: networks.New(t.Options.Network, t.Options.Clock), Namespaces: common.namespaces, Passing: t.passing(), Clock: t.Options.Clock,
				Drain: t.drain(), Names: t.storedNames(), Hostnames: t.Options.Names.Rules,
				Lacking: cells.LackingOf(common.hub(t)), Cells: common.judged(t), Moves: deployments.NewMoves(metrics.Registry),
				HoldCities: t.Options.HoldCities, Answers: prober.AnswersIn,
			}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "names", Setup: func(t Target) error { return setUpNames(t, common) }},
		{Name: "instancetypes", Setup: func(t Target) error {
			if t.Options.SharesTypes {
				return nil
			}
			r := &instancetypes.Reconciler{Projects: t.Options.Projects, Types: t.Options.Types, Visits: t.Options.Visits}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "propagation", Setup: func(t Target) error {
			if err := common.set(t); err != nil {
				return err
			}
			return common.propagation.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "quota", Setup: setUpQuota},
		{Name: "projection", Setup: func(t Target) error {
			if err := common.set(t); err != nil {
				return err
			}
			ready, lag, ignored := projection.NewReady(metrics.Registry), projection.NewLag(metrics.Registry),
				projection.NewIgnored(metrics.Registry)
			r := projection.New(projection.Options{
				Projects: t.Options.Projects, Hub: common.hub(t), Cities: common.cities, Karmada: common.karmada, Book: common.book,
				DoubtAfter: t.Options.AuditAfter, Ready: ready, Lag: lag, Ignored: ignored, Passing: t.passing(), Clock: t.Options.Clock,
				APIReader: t.Manager.GetLocalManager().GetAPIReader(),
			})
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "collector-deployments", Setup: func(t Target) error { return setUpAudit(t, common) }},
		{Name: "collector-demand", Setup: func(t Target) error {
			if err := common.set(t); err != nil {
				return err
			}
			r := &collector.Demand{
				Existence: t.Options.Existence, Hub: common.hub(t), APIReader: t.Manager.GetLocalManager().GetAPIReader(), Clock: t.Options.Clock,
			}
			return r.Register(t.Manager.GetLocalManager(), common.cities)
		}},
		{Name: "references", Setup: func(t Target) error {
			if err := common.set(t); err != nil {
				return err
			}
			local := t.Manager.GetLocalManager()
			r := &references.Reconciler{
				Projects: t.Options.Projects, Hub: local.GetClient(), APIReader: local.GetAPIReader(), Clock: t.Options.Clock,
				Owners: t.Options.Owners, Grants: projects.NewGrants(local.GetClient()), AuditInterval: t.Options.AuditInterval,
				MaxBytes: t.Options.MaxDataBytes, Repairer: common.repairer, Namespace: t.Options.Namespace,
			}
			return r.Register(t.Manager, t.controller(), t.wrap)
		}},
		{Name: "collector-namespaces", Setup: func(t Target) error {
			if t.Options.WithdrawAfter <= 0 {
				return nil
			}
			local := t.Manager.GetLocalManager()
			r := collector.NewNamespaces(collector.NamespacesOptions{
				Projects: t.Options.Existence, Hub: local.GetClient(), APIReader: local.GetAPIReader(),
				Owners: t.Options.Owners, After: t.Options.WithdrawAfter, Grants: projects.NewGrants(local.GetClient()), Clock: t.Options.Clock,
				Registerer: metrics.Registry,
			})
			return r.Register(local, controller.Options{ReconciliationTimeout: reconcileTimeout})
		}},
		{Name: "cells-agents", Setup: func(t Target) error {
			ready := cells.NewAgentsMetric(metrics.Registry)
			local := t.Manager.GetLocalManager()
			return (&cells.Agents{Hub: local.GetClient(), Reader: local.GetAPIReader(), Clock: t.Options.Clock, Ready: ready}).Register(local)
		}},
		{Name: "cells-cities", Setup: func(t Target) error {
			if err := common.setCities(t); err != nil {
				return err
			}
			local := t.Manager.GetLocalManager()
			return (&cells.Confirmations{
				Cities: common.cities, Hub: local.GetClient(), Clock: t.Options.Clock, Access: cells.NewAccessMetric(metrics.Registry),
			}).Register(local)
		}},
		{Name: "cells-cordons", Setup: func(t Target) error {
			local := t.Manager.GetLocalManager()
			return (&cells.Cordons{Hub: local.GetClient(), Reader: local.GetAPIReader(), Clock: t.Options.Clock}).Register(local)
		}},
		{Name: "cells-gone", Setup: func(t Target) error {
			local := t.Manager.GetLocalManager()
			if err := common.set(t); err != nil {
				return err
			}
			r := &cells.Gone{Cities: common.cities, Hub: local.GetClient(), APIReader: local.GetAPIReader(), Clock: t.Options.Clock}
			return r.Register(local)
		}},
		{Name: "collector-inventory", Setup: func(t Target) error {
			local := t.Manager.GetLocalManager()
			if err := common.set(t); err != nil {
				return err
			}
			return local.Add(collector.NewInventory(collector.InventoryOptions{
				Owners: t.Options.Owners, Existence: t.Options.Existence,
				Hub: common.hub(t), APIReader: local.GetAPIReader(), Repairer: common.repairer, After: t.Options.InventoryAfter,
				Clock: t.Options.Clock, Registerer: metrics.Registry,
			}))
		}},
	}
}

// NetworkBinding connects the networks of deployments to their cities through NetworkBindings in the project: Instances
// start when their NetworkBindings are Ready. Enable it if the projects have a network service.
const NetworkBinding featuregate.Feature = "NetworkBinding"

// AddFeatures adds the features of the controllers, at their defaults, to a gate.
func AddFeatures(gate featuregate.MutableFeatureGate) {
	runtime.Must(gate.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		NetworkBinding: {Default: false, PreRelease: featuregate.Alpha},
	}))
}

// ProjectKinds returns the kinds that the controllers watch in a project.
func ProjectKinds(locations projects.Locations) []client.Object {
	return []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}, locations.Object()}
}

// UsingKinds returns the ProjectKinds whose objects show that a project is in use. Instances without a deployment are
// garbage.
func UsingKinds() []client.Object {
	return []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}}
}

// CacheOptions limit the cache of the hub to Clusters, bindings and Works, and to the add-on's own objects. No
// label selects the Works of WorkloadDeployments; the cache transform strips all other Works.
func CacheOptions(hub types.UID) (cache.Options, error) {
	selectors := map[string]labels.Selector{}
	for _, label := range []string{v1alpha.LabelProject, v1alpha.LabelTopologyCity} {
		exists, err := labels.NewRequirement(label, selection.Exists, nil)
		if err != nil {
			return cache.Options{}, fmt.Errorf("select objects with label %s: %w", label, err)
		}
		selectors[label] = labels.NewSelector().Add(*exists)
	}
	fromProject := selectors[v1alpha.LabelProject]
	isBound := naming.IsHubNamespace
	work := cells.WorkName(hub)
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha.WorkloadDeployment{}: {Label: fromProject, Transform: path.TrimCopy},
			&v1alpha.InstanceSlice{}: {
				Label: fromProject, Transform: watch.OnlyIn(isBound, func() *v1alpha.InstanceSlice { return &v1alpha.InstanceSlice{} }),
			},
			&corev1.Namespace{}: {
				Label: fromProject, Transform: watch.OnlyIn(func(string) bool { return true }, func() *corev1.Namespace { return &corev1.Namespace{} }),
			},
			&workv1alpha1.Work{}: {Transform: func(object any) (any, error) { return path.TrimWorkOf(work, object) }},
			&policyv1alpha1.PropagationPolicy{}: {
				Label:     selectors[v1alpha.LabelTopologyCity],
				Transform: watch.OnlyIn(isBound, func() *policyv1alpha1.PropagationPolicy { return &policyv1alpha1.PropagationPolicy{} }),
			},
			&clusterv1alpha1.Cluster{}:             {Transform: cells.TrimCluster},
			&workv1alpha2.ResourceBinding{}:        {Transform: path.TrimBinding},
			&workv1alpha2.ClusterResourceBinding{}: {Transform: path.TrimClusterBinding},
			// The role of the add-on covers the RoleBindings of this name alone. ConfigMaps and Secrets are in no cache.
			&rbacv1.RoleBinding{}: {
				Field:     fields.OneTermEqualSelector(metav1.ObjectNameField, projects.GrantName),
				Transform: watch.OnlyIn(isBound, func() *rbacv1.RoleBinding { return &rbacv1.RoleBinding{} }),
			},
		},
	}, nil
}
