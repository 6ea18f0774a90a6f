// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/cell/data"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-deployments"

// Reconciler keeps the Instances of WorkloadDeployments. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// Recorder tells of Instances that the cell refuses.
	Recorder events.EventRecorder
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("deployments").
		// Its status is only reported from here, never acted on.
		For(&v1alpha.WorkloadDeployment{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// One that becomes Ready lets the next start; one that was deleted comes back.
		Owns(&v1alpha.Instance{}).
		// No Instance is taken down for a template whose data is not here yet.
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.deploymentsNaming(v1alpha.KindConfigMap)),
			builder.WithPredicates(data.CameOrWent())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.deploymentsNaming(v1alpha.KindSecret)),
			builder.WithPredicates(data.CameOrWent())).
		WithOptions(options).
		Complete(r)
}

// deploymentsNaming asks for the deployments whose template needs an object of a kind.
func (r *Reconciler) deploymentsNaming(kind string) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		var deployments v1alpha.WorkloadDeploymentList
		if err := r.Client.List(ctx, &deployments, client.InNamespace(obj.GetNamespace())); err != nil {
			// The list is read from memory, which has every deployment.
			log.FromContext(ctx).Error(err, "Cannot find the deployments that data's coming or going concerns")
			return nil
		}
		var requests []reconcile.Request
		for i := range deployments.Items {
			deployment := &deployments.Items[i]
			if needed, _ := data.Needed(&deployment.Spec.Template.Spec); slices.Contains(needed, data.Key{Kind: kind, Name: obj.GetName()}) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(deployment)})
			}
		}
		return requests
	}
}
