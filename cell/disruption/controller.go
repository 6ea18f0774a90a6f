// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package disruption

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-cell-disruption"

// Reconciler keeps the PodDisruptionBudgets of WorkloadDeployments. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// APIReader reads the deployment and its budget before a write.
	APIReader client.Reader
	// Clock measures how long Pods have been ready.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("disruption").
		For(&v1alpha.WorkloadDeployment{}, builder.WithPredicates(owned.SpecChanged())).
		// A budget that was changed or deleted is restored. Kubernetes writes its status.
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{}))).
		// A budget is complete when the Pods of Available Instances are protected.
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(ofPod), builder.WithPredicates(protectionChanged())).
		WithOptions(options).
		Complete(r)
}

// ofPod is the deployment of a Pod.
func ofPod(_ context.Context, pod client.Object) []reconcile.Request {
	return []reconcile.Request{
		{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetLabels()[v1alpha.LabelDeploymentName]}},
	}
}

// protectionChanged drops all events of Pods except changes of the label that protects them, and deletions.
func protectionChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetLabels()[v1alpha.LabelProtected] != e.ObjectNew.GetLabels()[v1alpha.LabelProtected]
		},
	}
}

// Allowed drops all events of budgets except changes that may let further evictions succeed.
func Allowed() predicate.Predicate {
	allows := func(object client.Object) bool {
		budget, ok := object.(*policyv1.PodDisruptionBudget)
		if !ok {
			return false
		}
		return processed(budget) && budget.Status.DisruptionsAllowed > 0
	}
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool { return allows(e.ObjectNew) && !allows(e.ObjectOld) },
	}
}
