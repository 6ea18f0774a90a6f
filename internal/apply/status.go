// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Status applies the status of desired. Of the rest of desired it uses only kind, namespace, name and resource version: it
// fails with a conflict when desired has a resource version and is not the newest version, or was recreated. Fields of the
// status that the manager applied before and desired does not set are removed.
func Status(ctx context.Context, c client.Client, manager FieldManager, desired client.Object) error {
	full, err := content(c, desired)
	if err != nil {
		return err
	}
	return status(ctx, c, manager, desired, full["status"])
}

// Conditions applies these conditions to the status of obj and leaves the rest of it alone, conditions of other field
// managers too. Conditions that the manager applied before and that are not given are removed. It fails with a conflict as
// Status does.
func Conditions(ctx context.Context, c client.Client, manager FieldManager, obj client.Object, conditions ...metav1.Condition) error {
	list := make([]any, 0, len(conditions))
	for i := range conditions {
		condition, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i])
		if err != nil {
			return fmt.Errorf("encode condition %s: %w", conditions[i].Type, err)
		}
		list = append(list, condition)
	}
	return status(ctx, c, manager, obj, map[string]any{"conditions": list})
}

func status(ctx context.Context, c client.Client, manager FieldManager, of client.Object, value any) error {
	applied := &unstructured.Unstructured{Object: map[string]any{"status": value}}
	gvk, err := apiutil.GVKForObject(of, c.Scheme())
	if err != nil {
		return fmt.Errorf("apply status: %w", err)
	}
	applied.SetGroupVersionKind(gvk)
	applied.SetNamespace(of.GetNamespace())
	applied.SetName(of.GetName())
	// The API server compares no UID when the status of a custom resource is written: without the resource version, the
	// status of a deleted object would land on a later one of the same name.
	applied.SetResourceVersion(of.GetResourceVersion())
	if err := c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(manager), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply status of %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(of), err)
	}
	return nil
}
