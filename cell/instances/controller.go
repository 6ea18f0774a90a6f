// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"context"

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
