// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/steps"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// scope is the state of one reconcile of a Cell.
type scope struct {
	*Reconciler
	steps.Runner
	cell   *v1alpha.Cell
	status v1alpha.CellStatus
}

// Reconcile writes the inventory of one hub.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, cell: &v1alpha.Cell{}}
	if err := r.client.Get(ctx, request.NamespacedName, s.cell); err != nil {
		if apierrors.IsNotFound(err) {
			r.pace.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if rest := r.pace.rest(request.NamespacedName); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	return s.Run(ctx, s.takeInventory, s.findLeft, s.writeStatus)
}

// takeInventory counts the WorkloadDeployments of the Cell's hub. Those that are being deleted are still there.
func (s *scope) takeInventory(ctx context.Context) error {
	var deployments v1alpha.WorkloadDeploymentList
	// Nothing in the list is changed.
	if err := s.client.List(ctx, &deployments, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the WorkloadDeployments of the cell: %w", err)
	}
	var entries []v1alpha.InventoryEntry
	for i := range deployments.Items {
		if deployments.Items[i].Labels[v1alpha.LabelHub] == string(s.cell.Spec.HubUID) {
			entries = append(entries, deployments.Items[i].Entry())
		}
	}
	s.status = v1alpha.NewCellStatus(s.cell, entries)
	return nil
}

// writeStatus writes the status when it differs.
func (s *scope) writeStatus(ctx context.Context) error {
	if equality.Semantic.DeepEqual(s.cell.Status, s.status) {
		return nil
	}
	return apply.Status(ctx, s.client, FieldManager, &v1alpha.Cell{
		ObjectMeta: metav1.ObjectMeta{Name: s.cell.Name, ResourceVersion: s.cell.ResourceVersion},
		Status:     s.status,
	})
}
