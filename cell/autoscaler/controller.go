// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-cell-autoscaler"

// Reconciler keeps the HorizontalPodAutoscalers of WorkloadDeployments. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("autoscaler").
		For(&v1alpha.WorkloadDeployment{}, builder.WithPredicates(watch.GenerationChanged())).
		// An autoscaler that was changed or deleted by hand is restored. Package rollup reads its status.
		Owns(&autoscalingv2.HorizontalPodAutoscaler{}, builder.WithPredicates(watch.GenerationChanged())).
		WithOptions(options).
		Complete(r)
}

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	pace.Runner
	deployment *v1alpha.WorkloadDeployment
	// existing is the autoscaler with the name of the deployment, or an empty one.
	existing *autoscalingv2.HorizontalPodAutoscaler
}

// Reconcile creates, changes or deletes the autoscaler of one WorkloadDeployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, deployment: &v1alpha.WorkloadDeployment{}, existing: &autoscalingv2.HorizontalPodAutoscaler{}}
	if err := r.Client.Get(ctx, request.NamespacedName, s.deployment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !s.deployment.DeletionTimestamp.IsZero() {
		// The autoscaler is deleted with it, by its owner reference.
		return reconcile.Result{}, nil
	}
	if proved, err := owned.IsCopy(ctx, r.Client, s.deployment); err != nil || !proved {
		return reconcile.Result{RequeueAfter: owned.UnprovenRequeue}, err
	}
	return s.Run(ctx, s.load, s.ensure)
}

func (s *scope) load(ctx context.Context) error {
	key := client.ObjectKeyFromObject(s.deployment)
	if err := s.Client.Get(ctx, key, s.existing); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get HorizontalPodAutoscaler %s: %w", key, err)
	}
	return nil
}

func (s *scope) ensure(ctx context.Context) error {
	least, limit := naming.ReplicaBounds(s.deployment)
	if !s.deployment.Spec.Autoscaled() || least < 1 {
		// A cell without Instances of the deployment has nothing to measure.
		return s.remove(ctx)
	}
	_, err := apply.Shared(ctx, s.Client, FieldManager, s.existing, desiredAutoscaler(s.deployment, least, limit))
	return owned.UnlessEnding(err)
}

// remove deletes the autoscaler of the deployment. An autoscaler with another owner stays.
func (s *scope) remove(ctx context.Context) error {
	if s.existing.UID == "" || !metav1.IsControlledBy(s.existing, s.deployment) || !s.existing.DeletionTimestamp.IsZero() {
		return nil
	}
	err := s.Client.Delete(ctx, s.existing, client.Preconditions{UID: &s.existing.UID})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete HorizontalPodAutoscaler %s: %w", client.ObjectKeyFromObject(s.existing), err)
	}
	return nil
}
