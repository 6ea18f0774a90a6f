// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

const (
	// FieldManager is the field manager of this controller.
	FieldManager apply.FieldManager = "karmada-compute-cell-sessions"
	// Name is the name of the RoleBinding, and of the ClusterRole that it binds.
	Name = "karmada-compute-cell-streams"
)

// Reconciler keeps the RoleBindings. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// Users are the users that the credential of sessions is in the cell. Without any, no controller runs.
	Users []string
}

// Register adds the controller to a manager, if there are users.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	if len(r.Users) == 0 {
		return nil
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("sessions").
		For(&v1alpha.WorkloadDeployment{}, builder.WithPredicates(watch.GenerationChanged())).
		// A RoleBinding that was edited or deleted by hand is restored.
		Watches(&rbacv1.RoleBinding{}, handler.EnqueueRequestsFromMapFunc(r.anyOfNamespace)).
		WithOptions(options).
		Complete(r)
}

// anyOfNamespace requests one deployment of a namespace: each of them restores its RoleBinding.
func (r *Reconciler) anyOfNamespace(ctx context.Context, binding client.Object) []reconcile.Request {
	return pace.All(ctx, r.Client, &v1alpha.WorkloadDeploymentList{}, client.InNamespace(binding.GetNamespace()), client.Limit(1))
}

// Reconcile keeps the RoleBinding in the namespace of one deployment. It is deleted with the namespace.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	deployment := &v1alpha.WorkloadDeployment{}
	if err := r.Client.Get(ctx, request.NamespacedName, deployment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !deployment.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	if proved, err := owned.IsCopy(ctx, r.Client, deployment); err != nil || !proved {
		return reconcile.Result{RequeueAfter: owned.UnprovenRequeue}, err
	}
	wanted, stored := r.desired(request.Namespace), &rbacv1.RoleBinding{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(wanted), stored)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return reconcile.Result{}, fmt.Errorf("get RoleBinding %s of namespace %s: %w", Name, request.Namespace, err)
	case err == nil && stored.RoleRef == wanted.RoleRef && equality.Semantic.DeepEqual(stored.Subjects, wanted.Subjects):
		return reconcile.Result{}, nil
	}
	if _, err := apply.Object(ctx, r.Client, FieldManager, wanted); err != nil && !apierrors.HasStatusCause(err, "NamespaceTerminating") {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, nil
}

func (r *Reconciler) desired(namespace string) *rbacv1.RoleBinding {
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: Name, Labels: map[string]string{v1alpha.LabelManagedBy: v1alpha.ManagedByCell}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: Name},
	}
	for _, user := range r.Users {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user})
	}
	return binding
}
