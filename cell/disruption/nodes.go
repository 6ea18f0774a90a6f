// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package disruption

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// NodeTransform drops the parts of a Node that this package does not read: a Node has some 20 KiB, and a cell thousands of
// them.
func NodeTransform() toolscache.TransformFunc {
	return func(object any) (any, error) {
		node, ok := object.(*corev1.Node)
		if !ok {
			return object, nil
		}
		return &corev1.Node{
			TypeMeta: node.TypeMeta,
			ObjectMeta: metav1.ObjectMeta{
				Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion, DeletionTimestamp: node.DeletionTimestamp,
			},
			Spec: corev1.NodeSpec{Unschedulable: node.Spec.Unschedulable},
		}, nil
	}
}

// CordonedNodes are the names of the Nodes that take no Pods, and how many others there are.
func CordonedNodes(ctx context.Context, reader client.Reader) (cordoned map[string]bool, schedulable int, err error) {
	var list corev1.NodeList
	if err := reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, 0, fmt.Errorf("list the Nodes of the cell: %w", err)
	}
	cordoned = map[string]bool{}
	for i := range list.Items {
		if node := &list.Items[i]; node.Spec.Unschedulable || !node.DeletionTimestamp.IsZero() {
			cordoned[node.Name] = true
		} else {
			schedulable++
		}
	}
	return cordoned, schedulable, nil
}

// CordonChanged drops updates of Nodes, such as heartbeats, that do not change whether they are cordoned.
func CordonChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isNode := e.ObjectOld.(*corev1.Node)
		after, stillIs := e.ObjectNew.(*corev1.Node)
		return isNode && stillIs && (before.Spec.Unschedulable != after.Spec.Unschedulable ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero())
	}}
}
