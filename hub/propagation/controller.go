// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/keymutex"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-propagation"

// Options are the dependencies of a Reconciler.
type Options struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Hub reads the hub from a cache and writes to it.
	Hub client.Client
	// APIReader reads the hub's API server, to determine whether an object was the last of its kind.
	APIReader client.Reader
	// Wanted reports whether a deleted deployment will be recreated, from the objects in project, read past the cache.
	Wanted func(ctx context.Context, project client.Reader, d *v1alpha.WorkloadDeployment) (bool, error)
	// Namespaces has the last UIDs of namespaces in projects. Nil: they are read each time.
	Namespaces *projects.Namespaces
	// Suspension reports which projects are suspended.
	Suspension projects.Suspension
	// FailoverAfter is how long a cell may be lost before its Instances move to the other cells of its city; 0: they never
	// move.
	FailoverAfter time.Duration
	// Metering reports whether the Instances of a project need quota. Nil: no project needs quota.
	Metering projects.Metering
	// Networks connects the networks of deployments to their cities. Nil: no deployment waits for networks.
	Networks Networks
	// Owners decides whether the original of a copy is gone.
	Owners *ownership.Owners
	// Cities has the events of confirmed cities. Nil: no events.
	Cities *cells.Cities
	// Grants maintains the rights of the add-on in each hub namespace.
	Grants *projects.Grants
	// Clock measures how long a cell has been lost.
	Clock clock.PassiveClock
}

// Reconciler copies deployments to the hub. It is safe for concurrent use.
type Reconciler struct {
	Options
	// namespaces are locked while a deployment determines the needs of its hub namespace. Otherwise the first
	// deployment of a city could find the policy that the last one is about to delete.
	namespaces keymutex.KeyMutex
	identity   *cells.Hub
}

// New returns a Reconciler.
func New(o Options) *Reconciler {
	return &Reconciler{Options: o, namespaces: keymutex.NewHashed(0), identity: cells.NewHub(o.APIReader)}
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	onHub := func(filters ...predicate.Predicate) []mcbuilder.WatchesOption {
		return []mcbuilder.WatchesOption{
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false), mcbuilder.WithPredicates(filters...),
		}
	}
	return mcbuilder.ControllerManagedBy(mgr).
		Named("propagation").
		For(&v1alpha.WorkloadDeployment{}, mcbuilder.WithPredicates(concernsCopy())).
		// A copy that was edited or deleted by hand is restored, and a finalizer waits for the deletion of the copy.
		Watches(&v1alpha.WorkloadDeployment{}, projects.OnHubEvent(projects.OfCopy),
			onHub(watch.IgnoreStatusUpdates())...).
		// Cells report which Instances they have, and which floors they apply.
		Watches(&workv1alpha1.Work{}, projects.OnHubEvent(path.OfWork), onHub(path.ReportChanged(sameReport))...).
		// So are its slices.
		Watches(&v1alpha.InstanceSlice{}, projects.OnHubEvent(ofSlice), onHub(watch.IgnoreStatusUpdates(), watch.IgnoreCreations())...).
		// The objects that the copies need are restored too, and the deletion of a hub namespace ends a wait.
		Watches(&corev1.Namespace{}, projects.OnHubEvent(r.originalsIn(nameOf)), onHub(watch.OnlyDeletions())...).
		// So is the right to the ConfigMaps and Secrets of a hub namespace.
		Watches(&rbacv1.RoleBinding{}, projects.OnHubEvent(r.originalsIn(namespaceOf)), onHub(watch.IgnoreCreations())...).
		Watches(&policyv1alpha1.PropagationPolicy{}, projects.OnHubEvent(r.originalsIn(namespaceOf)), onHub(policyEdited())...).
		Watches(&workv1alpha1.Work{}, projects.OnHubEvent(r.originalsIn(labelledNamespace)),
			onHub(predicate.Or(watch.OnlyDeletions(), carriedChanged()))...).
		// A cell that joins a city needs the namespaces of that city, and a lost cell may have to be released.
		Watches(&clusterv1alpha1.Cluster{}, projects.OnHubEvent(r.originalsOfCity), onHub(cells.Changed())...).
		// Karmada's scheduler sets the number of Instances of each cell, or finds no cell.
		Watches(&workv1alpha2.ResourceBinding{}, projects.OnHubEvent(path.OfDeploymentBinding(r.Hub)),
			onHub(predicate.Or(path.DivisionChanged(), path.RefusalChanged()))...).
		// The cells stop the Instances of a suspended project, and start them again.
		WatchesRawSource(r.suspensions()).
		// Operators confirm the cities of cells, and withdraw that.
		WatchesRawSource(cells.Watch(r.Cities, r.originalsOfCity)).
		// Projects whose Instances begin, or cease, to need quota.
		WatchesRawSource(projects.MeteringChanges(r.Projects, r.Metering)).
		WithOptions(options).
		Complete(wrap(r.Reconcile))
}

// carriedChanged lets updates of the Works of namespaces pass that change what they carry: another policy may select
// namespaces, too.
func carriedChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return labelledNamespace(e.ObjectNew) != "" && e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration()
		},
	}
}

// concernsCopy drops updates of originals that change only parts of the status that the copy does not depend on: each
// change of an Instance changes the status.
func concernsCopy() predicate.Predicate {
	return predicate.Or(watch.IgnoreStatusUpdates(), predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isDeployment := e.ObjectOld.(*v1alpha.WorkloadDeployment)
		after, stillIs := e.ObjectNew.(*v1alpha.WorkloadDeployment)
		return isDeployment && stillIs && (!slices.Equal(before.Finalizers, after.Finalizers) ||
			before.Status.ObservedGeneration != after.Status.ObservedGeneration ||
			upToDate(&before.Status, before.Generation) != upToDate(&after.Status, after.Generation))
	}})
}

type mapper func(context.Context, client.Object) []mcreconcile.Request

// originalsIn requests the originals that belong in a hub namespace, whether their copies exist or not.
func (r *Reconciler) originalsIn(hubNamespace func(client.Object) string) mapper {
	return func(ctx context.Context, changed client.Object) []mcreconcile.Request {
		project := projects.NameOf(changed)
		engaged, err := r.Projects.Get(ctx, project)
		if err != nil {
			// Another replica has the project, or this one engages it later and then reconciles all of its deployments.
			return nil
		}
		var deployments v1alpha.WorkloadDeploymentList
		if err := engaged.GetClient().List(ctx, &deployments, client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).Error(err, "Cannot list the deployments to reconcile", "project", project)
			return nil
		}
		var requests []mcreconcile.Request
		for i := range deployments.Items {
			if deployments.Items[i].Annotations[v1alpha.AnnotationHubNamespace] == hubNamespace(changed) {
				requests = append(requests, mcreconcile.Request{
					ClusterName: project,
					Request:     reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&deployments.Items[i])},
				})
			}
		}
		return requests
	}
}

func nameOf(obj client.Object) string            { return obj.GetName() }
func namespaceOf(obj client.Object) string       { return obj.GetNamespace() }
func labelledNamespace(obj client.Object) string { return obj.GetLabels()[v1alpha.LabelHubNamespace] }

// originalsOfCity requests the originals of all copies in a cell's city.
func (r *Reconciler) originalsOfCity(ctx context.Context, cell client.Object) []mcreconcile.Request {
	city := naming.CityLabel(cell.GetLabels()[v1alpha.LabelTopologyCity])
	if city == "" {
		return nil
	}
	var copies v1alpha.WorkloadDeploymentList
	if err := r.Hub.List(ctx, &copies, client.MatchingLabels{v1alpha.LabelTopologyCity: city}, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "Cannot list the deployments to reconcile", "city", city)
		return nil
	}
	var requests []mcreconcile.Request
	for i := range copies.Items {
		requests = append(requests, projects.OfCopy(ctx, &copies.Items[i])...)
	}
	return requests
}

// policyEdited drops the creation of policies, which is this controller's own, and updates that change neither the spec
// nor whether the policy is being deleted.
func policyEdited() predicate.Predicate {
	return predicate.And(
		predicate.Or(watch.GenerationChanged(), watch.DeletionStarted()),
		watch.IgnoreCreations(),
	)
}
