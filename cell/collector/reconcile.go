// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// scope is the state of one reconcile of a Cell.
type scope struct {
	*Reconciler
	pace.Runner
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
	if remaining := r.pace.wait(request.NamespacedName); remaining > 0 {
		return reconcile.Result{RequeueAfter: remaining}, nil
	}
	return s.Run(ctx, s.takeInventory, s.findLeft, s.findCordons, s.writeStatus)
}

// takeInventory counts the WorkloadDeployments and namespaces of the Cell's hub. Deployments that are being deleted are
// still there.
func (s *scope) takeInventory(ctx context.Context) error {
	var deployments v1alpha.WorkloadDeploymentList
	// Nothing in the list is changed.
	if err := s.client.List(ctx, &deployments, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the WorkloadDeployments of the cell: %w", err)
	}
	var entries []v1alpha.InventoryEntry
	for i := range deployments.Items {
		if deployments.Items[i].Labels[v1alpha.LabelHub] == string(s.cell.Spec.HubUID) {
			entries = append(entries, wire.EntryOf(&deployments.Items[i]))
		}
	}
	namespaces, err := s.namespaces(ctx)
	if err != nil {
		return err
	}
	s.status = wire.NewCellStatus(s.cell, append(entries, namespaces...))
	return nil
}

// namespaces are the entries of the hub namespaces of the Cell's hub, if the hub requests them. A namespace in deletion
// needs no action, and is left out.
func (s *scope) namespaces(ctx context.Context) ([]v1alpha.InventoryEntry, error) {
	if !s.cell.Spec.Namespaces {
		return nil, nil
	}
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}}
	// Nothing in the list is changed.
	if err := s.client.List(ctx, list, client.MatchingLabels{v1alpha.LabelHub: string(s.cell.Spec.HubUID)},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the hub namespaces of the cell: %w", err)
	}
	var entries []v1alpha.InventoryEntry
	for i := range list.Items {
		if !list.Items[i].DeletionTimestamp.IsZero() {
			continue
		}
		entry := wire.NamespaceEntry(&list.Items[i])
		if slices.Contains(s.cell.Spec.List, wire.Bucket(entry.Key())) {
			var err error
			if entry.Empty, err = s.isEmpty(ctx, entry.Namespace); err != nil {
				return nil, err
			}
			if !entry.Empty {
				// Instances and Pods end without an event for the Cell.
				s.RequeueAfter.AtMost(interval)
			}
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// isEmpty reports whether a hub namespace has no WorkloadDeployment of any hub, no Instance and no Pod of an Instance.
func (s *scope) isEmpty(ctx context.Context, namespace string) (bool, error) {
	for _, list := range []client.ObjectList{&v1alpha.WorkloadDeploymentList{}, &v1alpha.InstanceList{}, &corev1.PodList{}} {
		if err := s.client.List(ctx, list, client.InNamespace(namespace), client.Limit(1), client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("list %T of namespace %s: %w", list, namespace, err)
		}
		if meta.LenList(list) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// findCordons reports whether all Nodes are cordoned. How many there are is not reported: each Node that is added or
// removed would cost writes on the hub.
func (s *scope) findCordons(ctx context.Context) error {
	cordoned, schedulable, err := disruption.CordonedNodes(ctx, s.client)
	if err != nil {
		return err
	}
	s.status.Cordoned = new(len(cordoned) > 0 && schedulable == 0)
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
