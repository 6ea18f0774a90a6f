// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Gone deletes the add-on's objects for cells that are lost permanently. Every replica runs one, and the first one does
// the work. It is safe for concurrent use.
type Gone struct {
	// Hub reads Clusters from a cache and writes to the hub.
	Hub client.Client
	// APIReader lists the Works of a cell: the cache does not have all of them.
	APIReader client.Reader
	// Clock gives the condition its transition times.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Gone) Register(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("forget").
		For(&clusterv1alpha1.Cluster{}, builder.WithPredicates(concerned())).
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		Complete(r)
}

// concerned passes Clusters that are or were forgotten, when that or their readiness has changed.
func concerned() predicate.Predicate {
	return predicate.And(
		predicate.Or(Changed(), predicate.AnnotationChangedPredicate{}),
		predicate.Funcs{
			CreateFunc: func(e event.CreateEvent) bool { return isConcerned(e.Object) },
			UpdateFunc: func(e event.UpdateEvent) bool { return isConcerned(e.ObjectOld) || isConcerned(e.ObjectNew) },
			DeleteFunc: func(event.DeleteEvent) bool { return false },
		},
	)
}

func isConcerned(object client.Object) bool {
	cluster, ok := object.(*clusterv1alpha1.Cluster)
	return ok && (IsForgotten(cluster) || meta.FindStatusCondition(cluster.Status.Conditions, v1alpha.ConditionComputeForgotten) != nil)
}
