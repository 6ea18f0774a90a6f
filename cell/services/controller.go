// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-cell-services"

// Reconciler keeps the Services of Workloads. A request has the name of a Workload. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// APIReader reads Services that the agent did not create: they are not in the cache.
	APIReader client.Reader
	// Exports reports whether the cell serves ServiceExports. Nil: it does not.
	Exports *Exports
	// Gateways reports whether the cell serves the Gateway API. Nil: it does not.
	Gateways *Exports
	// Clock gives conditions their transition times.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("services").
		Watches(&v1alpha.WorkloadDeployment{}, handler.EnqueueRequestsFromMapFunc(ofDeployment),
			builder.WithPredicates(watch.GenerationChanged())).
		// A Service that was edited or deleted by hand is restored, and one without deployments is deleted.
		Watches(&corev1.Service{}, &handler.EnqueueRequestForObject{}).
		// The Cell has the settings of the load balancer.
		Watches(&v1alpha.Cell{}, handler.EnqueueRequestsFromMapFunc(r.ofCell), builder.WithPredicates(watch.GenerationChanged())).
		WithOptions(options).
		Complete(r)
}

// ofDeployment requests the Workload of a deployment, whose Service has its name.
func ofDeployment(_ context.Context, obj client.Object) []reconcile.Request {
	deployment, ok := obj.(*v1alpha.WorkloadDeployment)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{
		Namespace: deployment.Namespace, Name: deployment.Spec.WorkloadRef.Name,
	}}}
}
