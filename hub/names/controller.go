// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = reasons.RecordsManager

// Reconciler keeps the DNSEndpoints of Workloads. It is safe for concurrent use.
type Reconciler struct {
	Settings
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Hub writes DNSEndpoints and reads hub namespaces from a cache. APIReader reads the hub past every cache.
	Hub       client.Client
	APIReader client.Reader
	// Owners reports whether Milo has the project: without it, a project answers as an empty one does.
	Owners *ownership.Owners
	// Records are the DNSEndpoints of the hub.
	Records *Records
	// Namespaces has the last UIDs of namespaces in projects. Nil: they are read each time.
	Namespaces *projects.Namespaces
	// Lacking has the cities that lack what an exposure needs. Nil: no city does.
	Lacking cells.Lacking
	// Prober asks the addresses of the names. Nil: nothing is asked.
	Prober *probe.Prober
	// Clock determines when a city returns.
	Clock clock.PassiveClock
}

// byWorkload indexes deployments by the UID of their Workload.
var byWorkload = projects.ByLabel{Object: &v1alpha.WorkloadDeployment{}, Label: v1alpha.LabelWorkloadUID}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	if err := byWorkload.AddTo(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := mgr.GetLocalManager().Add(r.Records); err != nil {
		return err
	}
	built, err := mcbuilder.ControllerManagedBy(mgr).
		Named("names").
		For(&v1alpha.Workload{}, mcbuilder.WithPredicates(predicate.Or(watch.GenerationChanged(), watch.DeletionStarted()))).
		// The cities that serve, with their addresses.
		Watches(&v1alpha.WorkloadDeployment{}, ofDeployment, mcbuilder.WithPredicates(endpointsChanged())).
		WithOptions(options).
		Build(wrap(r.Reconcile))
	if err != nil {
		return err
	}
	if err := built.MultiClusterWatch(r.Prober); err != nil {
		return err
	}
	return built.MultiClusterWatch(r.Records)
}

// ofDeployment requests the Workload of a deployment.
func ofDeployment(name multicluster.ClusterName, _ cluster.Cluster) mchandler.EventHandler {
	return handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []mcreconcile.Request {
		key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetLabels()[v1alpha.LabelWorkloadName]}
		return []mcreconcile.Request{{ClusterName: name, Request: reconcile.Request{NamespacedName: key}}}
	})
}

// endpointsChanged drops events of deployments that change no endpoint: an Instance that flaps changes none.
func endpointsChanged() predicate.Predicate {
	contains := func(obj client.Object) bool {
		deployment, isOne := obj.(*v1alpha.WorkloadDeployment)
		return isOne && len(deployment.Status.Endpoints) > 0
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return contains(e.Object) },
		DeleteFunc: func(e event.DeleteEvent) bool { return contains(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, wasOne := e.ObjectOld.(*v1alpha.WorkloadDeployment)
			after, isOne := e.ObjectNew.(*v1alpha.WorkloadDeployment)
			return wasOne && isOne && (!equality.Semantic.DeepEqual(before.Status.Endpoints, after.Status.Endpoints) ||
				before.Annotations[v1alpha.AnnotationTrafficLeaves] != after.Annotations[v1alpha.AnnotationTrafficLeaves] ||
				before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero())
		},
	}
}

// scope is the state of one reconcile of a Workload.
type scope struct {
	*Reconciler
	request  mcreconcile.Request
	project  projects.Project
	client   client.Client
	workload *v1alpha.Workload
	// wishes are its names, and endpoints the addresses of its cities.
	wishes    []wish
	endpoints []v1alpha.CityEndpoint
	// switching: its cells have another exposure than it wants. Its names are gone until they have the new one.
	switching bool
	// existing are the DNSEndpoints with the labels of a Workload of this name. served: the hub serves the kind.
	existing []unstructured.Unstructured
	served   bool
	// found is the state of each name.
	found []state
	// failed are the errors of names that the hub has not stored or deleted.
	failed       []error
	requeueAfter pace.After
}

// state is the state of a name.
type state struct {
	name string
	// reason is the reason of condition NamesProgrammed for this name.
	reason, message string
	// holds: the Workload has the name.
	holds bool
	// missingSince is since when the zone has none of its addresses; "": that is not known.
	missingSince string
}
