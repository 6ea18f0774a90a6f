// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-cell-isolation"

// Reconciler keeps the NetworkPolicies of WorkloadDeployments. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("isolation").
		For(&v1alpha.WorkloadDeployment{}, builder.WithPredicates(watch.GenerationChanged())).
		// Templates come and go with Instances, and with the Pods that they run.
		Owns(&v1alpha.Instance{}, builder.WithPredicates(templateChanged())).
		// A policy that was edited or deleted by hand is restored.
		Owns(&networkingv1.NetworkPolicy{}).
		Watches(&networkingv1.NetworkPolicy{}, handler.EnqueueRequestsFromMapFunc(r.anyOfNamespace)).
		WithOptions(options).
		Complete(r)
}

// templateChanged drops updates of Instances that have the same template and run the same one.
func templateChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isInstance := e.ObjectOld.(*v1alpha.Instance)
		after, stillIs := e.ObjectNew.(*v1alpha.Instance)
		return isInstance && stillIs && (before.TemplateHash() != after.TemplateHash() || observedTemplate(before) != observedTemplate(after))
	}}
}

// observedTemplate is the hash of the template that the Pod of an Instance has; "": it has no Pod.
func observedTemplate(instance *v1alpha.Instance) string {
	if instance.Status.Controller == nil {
		return ""
	}
	return instance.Status.Controller.ObservedTemplateHash
}

// anyOfNamespace requests one deployment in the namespace of a namespace's policy: each of them restores it.
func (r *Reconciler) anyOfNamespace(ctx context.Context, policy client.Object) []reconcile.Request {
	if policy.GetName() != NamespacePolicy {
		return nil
	}
	return pace.All(ctx, r.Client, &v1alpha.WorkloadDeploymentList{}, client.InNamespace(policy.GetNamespace()), client.Limit(1))
}
