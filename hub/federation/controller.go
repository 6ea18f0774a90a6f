// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/keymutex"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/hub/origin"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-federation"

// Projects finds the projects that this replica owns.
type Projects interface {
	Get(ctx context.Context, name multicluster.ClusterName) (cluster.Cluster, error)
	UID(name multicluster.ClusterName) (types.UID, error)
}

// Reconciler copies deployments to the hub. It is safe for concurrent use.
type Reconciler struct {
	// Projects are the projects that this replica owns.
	Projects Projects
	// Hub reads the hub from a cache and writes to it.
	Hub client.Client
	// Live reads the hub itself, for the question whether something was the last of its kind.
	Live client.Reader
	// FailoverAfter is how long a cell may be lost before what it runs moves to the other cells of its city; 0: for ever.
	FailoverAfter time.Duration
	// Clock says how long a cell has been lost.
	Clock clock.PassiveClock

	// namespaces lets one deployment at a time decide what its hub namespace needs: the first of a city must not
	// find the policy that the last one is just about to remove.
	namespaces keymutex.KeyMutex
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	r.namespaces = keymutex.NewHashed(0)
	onHub := []mcbuilder.WatchesOption{mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false)}
	return mcbuilder.ControllerManagedBy(mgr).
		Named("federation").
		For(&v1alpha.WorkloadDeployment{}).
		// A copy that was edited or deleted by hand is put back, and a finalizer waits for the copy's end.
		Watches(&v1alpha.WorkloadDeployment{}, origin.OnHubEvent(origin.OfCopy),
			append(onHub, mcbuilder.WithPredicates(notStatus()))...).
		// What the copies need is put back too, and a hub namespace that is going away is waited for.
		Watches(&corev1.Namespace{}, origin.OnHubEvent(r.copiesIn(nameOf)), append(onHub, mcbuilder.WithPredicates(gone()))...).
		Watches(&policyv1alpha1.PropagationPolicy{}, origin.OnHubEvent(r.copiesIn(namespaceOf)),
			append(onHub, mcbuilder.WithPredicates(changedSpec()))...).
		Watches(&workv1alpha1.Work{}, origin.OnHubEvent(r.copiesIn(labelledNamespace)),
			append(onHub, mcbuilder.WithPredicates(gone()))...).
		// A cell that joins a city needs the namespaces of that city, and one that is lost may be given up.
		Watches(&clusterv1alpha1.Cluster{}, origin.OnHubEvent(r.copiesOfCity),
			append(onHub, mcbuilder.WithPredicates(predicate.Or(predicate.LabelChangedPredicate{}, deletionStarted(), readinessChanged())))...).
		// Karmada's scheduler says how many Instances each cell runs, and cells say which they have given up.
		Watches(&workv1alpha2.ResourceBinding{}, origin.OnHubEvent(origin.OfBinding(r.Hub)), append(onHub, mcbuilder.WithPredicates(divided()))...).
		WithOptions(options).
		Complete(wrap(r.Reconcile))
}

type mapper func(context.Context, client.Object) []mcreconcile.Request

// copiesIn asks for the originals that belong in a hub namespace, whether their copies are there or not.
func (r *Reconciler) copiesIn(hubNamespace func(client.Object) string) mapper {
	return func(ctx context.Context, changed client.Object) []mcreconcile.Request {
		project := origin.Project(changed)
		cl, err := r.Projects.Get(ctx, project)
		if err != nil {
			// Another replica's, or one that is engaged later and then looks at all of its deployments.
			return nil
		}
		var deployments v1alpha.WorkloadDeploymentList
		if err := cl.GetClient().List(ctx, &deployments); err != nil {
			log.FromContext(ctx).Error(err, "Deployments are not looked at again", "project", project)
			return nil
		}
		var requests []mcreconcile.Request
		for i := range deployments.Items {
			if deployments.Items[i].Annotations[v1alpha.AnnotationFederationNamespace] == hubNamespace(changed) {
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

// copiesOfCity asks for the originals of all copies in a cell's city.
func (r *Reconciler) copiesOfCity(ctx context.Context, cell client.Object) []mcreconcile.Request {
	city := v1alpha.CityLabel(cell.GetLabels()[v1alpha.LabelTopologyCity])
	if city == "" {
		return nil
	}
	var copies v1alpha.WorkloadDeploymentList
	if err := r.Hub.List(ctx, &copies, client.MatchingLabels{v1alpha.LabelTopologyCity: city}); err != nil {
		log.FromContext(ctx).Error(err, "Deployments are not looked at again", "city", city)
		return nil
	}
	var requests []mcreconcile.Request
	for i := range copies.Items {
		requests = append(requests, origin.OfCopy(ctx, &copies.Items[i])...)
	}
	return requests
}

// notStatus passes everything but changes of status: those are projection's.
func notStatus() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, deletionStarted())
}

// changedSpec passes edits, the start of a deletion and its end.
func changedSpec() predicate.Predicate {
	return predicate.And(predicate.Or(predicate.GenerationChangedPredicate{}, deletionStarted()), gone(true))
}

// readinessChanged passes changes of whether Karmada reaches a Cluster.
func readinessChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isCluster := e.ObjectOld.(*clusterv1alpha1.Cluster)
		after, stillIs := e.ObjectNew.(*clusterv1alpha1.Cluster)
		return isCluster && stillIs && newCell(before).ready != newCell(after).ready
	}}
}

// divided passes what changes a division. Bindings come trimmed out of the cache.
func divided() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isBinding := e.ObjectOld.(*workv1alpha2.ResourceBinding)
			after, stillIs := e.ObjectNew.(*workv1alpha2.ResourceBinding)
			return isBinding && stillIs && (!equality.Semantic.DeepEqual(before.Spec.Clusters, after.Spec.Clusters) ||
				!equality.Semantic.DeepEqual(before.Status.AggregatedStatus, after.Status.AggregatedStatus))
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

func deletionStarted() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
	}}
}

// gone passes the end of an object, and its updates when asked to.
func gone(updates ...bool) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return len(updates) > 0 && updates[0] },
	}
}
