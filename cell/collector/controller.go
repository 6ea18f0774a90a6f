// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-cell-inventory"

// Reconciler writes the status of Cells. Create it with New. It is safe for concurrent use.
type Reconciler struct {
	client    client.Client
	apiReader client.Reader
	pace      pacer
}

// New returns a Reconciler. c reads from the cache and writes to the cell, apiReader reads its API server; clock paces
// writes.
func New(c client.Client, apiReader client.Reader, clock clock.PassiveClock) *Reconciler {
	return &Reconciler{client: c, apiReader: apiReader, pace: pacer{clock: clock, last: map[types.NamespacedName]time.Time{}}}
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("collector").
		For(&v1alpha.Cell{}).
		// The status of WorkloadDeployments changes often, and is not in the inventory.
		Watches(&v1alpha.WorkloadDeployment{}, handler.EnqueueRequestsFromMapFunc(r.allCells),
			builder.WithPredicates(watch.IgnoreStatusUpdates())).
		// So do the namespaces that carry them: one whose Work is lost stays empty, and no other object names it.
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.allCells)).
		// A cell whose Nodes are all cordoned is reported.
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.allCells), builder.WithPredicates(disruption.CordonChanged())).
		WithOptions(options).
		Complete(r)
}

// allCells are the Cells of every hub: a WorkloadDeployment or namespace may have passed from one to another.
func (r *Reconciler) allCells(ctx context.Context, _ client.Object) []reconcile.Request {
	return pace.All(ctx, r.client, &v1alpha.CellList{})
}
