// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apply writes typed objects by server-side apply, and writes only what differs.
package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Owner is the field manager of one controller.
type Owner string

// Object applies all of desired that is set, status left out, as owner, and takes over fields that others own.
// Fields that the owner applied before and no longer sets are removed. It returns the object as stored.
func Object[T client.Object](ctx context.Context, c client.Client, owner Owner, desired T) (T, error) {
	var stored T
	content, err := content(c, desired)
	if err != nil {
		return stored, err
	}
	unstructured.RemoveNestedField(content, "status")
	applied := &unstructured.Unstructured{Object: content}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(owner), client.ForceOwnership); err != nil {
		return stored, fmt.Errorf("apply %s %s: %w", applied.GetKind(), client.ObjectKeyFromObject(desired), err)
	}
	stored = newLike(desired)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(applied.Object, stored); err != nil {
		return stored, fmt.Errorf("decode applied %s %s: %w", applied.GetKind(), client.ObjectKeyFromObject(desired), err)
	}
	return stored, nil
}

// Status applies the status of desired as owner; the rest of desired but its name is ignored.
func Status(ctx context.Context, c client.Client, owner Owner, desired client.Object) error {
	full, err := content(c, desired)
	if err != nil {
		return err
	}
	return status(ctx, c, owner, desired, full["status"])
}

func status(ctx context.Context, c client.Client, owner Owner, of client.Object, value any) error {
	applied := &unstructured.Unstructured{Object: map[string]any{"status": value}}
	gvk, err := apiutil.GVKForObject(of, c.Scheme())
	if err != nil {
		return fmt.Errorf("apply status: %w", err)
	}
	applied.SetGroupVersionKind(gvk)
	applied.SetNamespace(of.GetNamespace())
	applied.SetName(of.GetName())
	// The UID makes the write fail when the object was recreated meanwhile, so that a status never lands on another.
	applied.SetUID(of.GetUID())
	if err := c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(owner), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply status of %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(of), err)
	}
	return nil
}

// Conditions applies conditions of the status of obj as owner, and nothing else of it: conditions of other types, and
// their owners, stay as they are. Conditions that the owner applied before and does not give are removed.
func Conditions(ctx context.Context, c client.Client, owner Owner, obj client.Object, conditions ...metav1.Condition) error {
	list := make([]any, 0, len(conditions))
	for i := range conditions {
		condition, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i])
		if err != nil {
			return fmt.Errorf("encode condition %s: %w", conditions[i].Type, err)
		}
		list = append(list, condition)
	}
	return status(ctx, c, owner, obj, map[string]any{"conditions": list})
}

// ReplaceSpec sets the spec of the stored object to spec, whole, as owner. It is for what server-side apply cannot
// do: removing fields that somebody else added. It fails when stored was recreated meanwhile.
func ReplaceSpec(ctx context.Context, c client.Client, owner Owner, stored client.Object, spec any) error {
	return Replace(ctx, c, owner, stored, map[string]any{"/spec": spec})
}

// Replace sets fields of the stored object, by their JSON paths, whole, as ReplaceSpec does the spec.
func Replace(ctx context.Context, c client.Client, owner Owner, stored client.Object, values map[string]any) error {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	operations := []operation{{Op: "test", Path: "/metadata/uid", Value: stored.GetUID()}}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		// "add" replaces what is there, and does not mind when nothing is.
		operations = append(operations, operation{Op: "add", Path: path, Value: values[path]})
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return fmt.Errorf("encode the fields of %s: %w", client.ObjectKeyFromObject(stored), err)
	}
	if err := c.Patch(ctx, stored, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(owner)); err != nil {
		return fmt.Errorf("replace fields of %s: %w", client.ObjectKeyFromObject(stored), err)
	}
	return nil
}

// MetadataDiffers says whether the labels, annotations, finalizers and owners of desired are not all on existing.
// What others added to existing does not count.
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
	for key, value := range maps.All(wanted) {
		if found, ok := all[key]; !ok || found != value {
			return false
		}
	}
	return true
}

func content(c client.Client, obj client.Object) (map[string]any, error) {
	gvk, err := apiutil.GVKForObject(obj, c.Scheme())
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(obj), err)
	}
	result := &unstructured.Unstructured{Object: content}
	result.SetGroupVersionKind(gvk)
	for _, field := range []string{"creationTimestamp", "managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	return content, nil
}

func newLike[T client.Object](obj T) T {
	copied, _ := obj.DeepCopyObject().(T)
	return copied
}

// ReleaseFinalizer removes a finalizer from obj. An object that is gone is no error.
func ReleaseFinalizer(ctx context.Context, c client.Client, owner Owner, obj client.Object, finalizer string) error {
	before, _ := obj.DeepCopyObject().(client.Object)
	if !controllerutil.RemoveFinalizer(obj, finalizer) {
		return nil
	}
	return client.IgnoreNotFound(patchMetadata(ctx, c, owner, before, obj))
}

// Metadata adds the annotations and finalizers of wanted to obj, in one write, when one of them is not there. It fails
// with a conflict when obj is not the newest version.
func Metadata(ctx context.Context, c client.Client, owner Owner, obj client.Object, wanted metav1.ObjectMeta) error {
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
	return patchMetadata(ctx, c, owner, before, obj)
}

func patchMetadata(ctx context.Context, c client.Client, owner Owner, before, after client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, after, patch, client.FieldOwner(owner)); err != nil {
		return fmt.Errorf("update the metadata of %s: %w", client.ObjectKeyFromObject(after), err)
	}
	return nil
}
