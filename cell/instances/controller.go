// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
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
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-instances"

// Reconciler lifts the gates of Instances. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// Clock stamps conditions.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("instances").
		For(&v1alpha.Instance{}).
		// A grant comes in the spec of the deployment.
		Watches(&v1alpha.WorkloadDeployment{}, handler.EnqueueRequestsFromMapFunc(r.instancesOf),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// What a template names comes beside the deployment. What it holds is of no interest here.
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.instancesNaming(v1alpha.KindConfigMap)),
			builder.WithPredicates(data.CameOrWent())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.instancesNaming(v1alpha.KindSecret)),
			builder.WithPredicates(data.CameOrWent())).
		WithOptions(options).
		Complete(r)
}

func (r *Reconciler) instancesOf(ctx context.Context, obj client.Object) []reconcile.Request {
	deployment, ok := obj.(*v1alpha.WorkloadDeployment)
	if !ok {
		return nil
	}
	instances, err := owned.Instances(ctx, r.Client, deployment)
	if err != nil {
		// The list is read from memory; it fails only when the index is missing.
		log.FromContext(ctx).Error(err, "Cannot find the Instances that a deployment's change concerns")
		return nil
	}
	requests := make([]reconcile.Request, 0, len(instances))
	for i := range instances {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&instances[i])})
	}
	return requests
}

// instancesNaming asks for the Instances that need an object of a kind.
func (r *Reconciler) instancesNaming(kind string) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		var instances v1alpha.InstanceList
		if err := r.Client.List(ctx, &instances, client.InNamespace(obj.GetNamespace())); err != nil {
			// The list is read from memory, which has every Instance.
			log.FromContext(ctx).Error(err, "Cannot find the Instances that data's coming or going concerns")
			return nil
		}
		var requests []reconcile.Request
		for i := range instances.Items {
			if needed, _ := data.Needed(&instances.Items[i].Spec); slices.Contains(needed, data.Key{Kind: kind, Name: obj.GetName()}) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&instances.Items[i])})
			}
		}
		return requests
	}
}
