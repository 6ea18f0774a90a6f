// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// MetadataDiffers reports whether a label, annotation, finalizer or owner reference of desired is missing from existing
// or different there. Metadata that other writers added to existing does not count.
func MetadataDiffers(existing, desired client.Object) bool {
	if !contains(existing.GetLabels(), desired.GetLabels()) || !contains(existing.GetAnnotations(), desired.GetAnnotations()) {
		return true
	}
	for _, finalizer := range desired.GetFinalizers() {
		if !containsItem(existing.GetFinalizers(), finalizer) {
			return true
		}
	}
	for _, reference := range desired.GetOwnerReferences() {
		if !containsItem(existing.GetOwnerReferences(), reference) {
			return true
		}
	}
	return false
}

func containsItem[T any](all []T, wanted T) bool {
	for _, item := range all {
		if equality.Semantic.DeepEqual(item, wanted) {
			return true
		}
	}
	return false
}

func contains(all, wanted map[string]string) bool {
	for key, value := range wanted {
		if found, ok := all[key]; !ok || found != value {
			return false
		}
	}
	return true
}

// AddMetadata adds the annotations and finalizers of wanted to obj in one write, and writes nothing when obj has them
// all. It fails with a conflict when obj is not the newest version.
func AddMetadata(ctx context.Context, c client.Client, manager FieldManager, obj client.Object, wanted metav1.ObjectMeta) error {
	before, _ := obj.DeepCopyObject().(client.Object)
	changed := !contains(obj.GetAnnotations(), wanted.Annotations)
	annotations := maps.Clone(obj.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, wanted.Annotations)
	obj.SetAnnotations(annotations)
	for _, finalizer := range wanted.Finalizers {
		changed = controllerutil.AddFinalizer(obj, finalizer) || changed
	}
	if !changed {
		return nil
	}
	return patchMetadata(ctx, c, manager, before, obj)
}

// RemoveFinalizer removes a finalizer from obj. It fails with a conflict if obj is not the newest version; it returns
// no error if the object does not exist any more.
func RemoveFinalizer(ctx context.Context, c client.Client, manager FieldManager, obj client.Object, finalizer string) error {
	before, _ := obj.DeepCopyObject().(client.Object)
	if !controllerutil.RemoveFinalizer(obj, finalizer) {
		return nil
	}
	return client.IgnoreNotFound(patchMetadata(ctx, c, manager, before, obj))
}

func patchMetadata(ctx context.Context, c client.Client, manager FieldManager, before, after client.Object) error {
	// The optimistic lock: finalizers are a list that a merge patch replaces whole.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, after, patch, client.FieldOwner(manager)); err != nil {
		return fmt.Errorf("update the metadata of %s: %w", client.ObjectKeyFromObject(after), err)
	}
	return nil
}

// Status applies the status of desired. Of the rest of desired it uses only kind, namespace, name and resource version:
// it fails with a conflict when desired has a resource version and is not the newest version, or was recreated. Fields
// of the status that the manager applied before and desired does not set are removed.
func Status(ctx context.Context, c client.Client, manager FieldManager, desired client.Object) error {
	full, err := content(c, desired)
	if err != nil {
		return err
	}
	return status(ctx, c, manager, desired, full["status"])
}

// Conditions applies these conditions to the status of obj and leaves the rest of it alone, conditions of other field
// managers too. Conditions that the manager applied before and that are not given are removed. It fails with a conflict
// as Status does.
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

// StatusFields applies these fields of the status of obj and leaves the rest of it alone. Fields that the manager applied
// before and that are not given are removed. It fails with a conflict as Status does.
func StatusFields[T any](ctx context.Context, c client.Client, manager FieldManager, obj client.Object, fields T) error {
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&fields)
	if err != nil {
		return fmt.Errorf("encode fields of a status: %w", err)
	}
	return status(ctx, c, manager, obj, value)
}

func status(ctx context.Context, c client.Client, manager FieldManager, stored client.Object, value any) error {
	applied := &unstructured.Unstructured{Object: map[string]any{"status": value}}
	gvk, err := apiutil.GVKForObject(stored, c.Scheme())
	if err != nil {
		return fmt.Errorf("apply status: %w", err)
	}
	applied.SetGroupVersionKind(gvk)
	applied.SetNamespace(stored.GetNamespace())
	applied.SetName(stored.GetName())
	// The API server compares no UID when the status of a custom resource is written: without the resource version, the
	// status of a deleted object would land on a later one of the same name.
	applied.SetResourceVersion(stored.GetResourceVersion())
	if err := c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(manager),
		client.ForceOwnership); err != nil {
		return fmt.Errorf("apply status of %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(stored), err)
	}
	return nil
}
