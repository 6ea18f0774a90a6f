// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deleteContents deletes every object of the given kinds and every namespace that is not kept, and returns how many
// still exist. Objects that a finalizer keeps in namespace default do not count: Milo does not wait for them, and they
// exist again in a later project of that name.
func deleteContents(ctx context.Context, from *plane, kinds []schema.GroupVersionResource) (int, error) {
	left := 0
	for _, resource := range kinds {
		count, err := deleteAll(ctx, from, resource, func(string) bool { return true })
		if err != nil {
			return 0, err
		}
		left += count
	}
	count, err := deleteAll(ctx, from, namespacesResource, func(name string) bool { return !keptNamespaces[name] })
	if err != nil {
		return 0, err
	}
	return left + count, nil
}

// deleteAll deletes every chosen object that is not being deleted yet, and
// returns how many chosen objects there were outside of namespace default.
func deleteAll(ctx context.Context, from *plane, resource schema.GroupVersionResource, chosen func(name string) bool) (int, error) {
	objects, err := from.objects.Resource(resource).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil // the kind was deleted, and its objects with it
	}
	if err != nil {
		return 0, fmt.Errorf("list %s: %w", resource.Resource, err)
	}
	left := 0
	for i := range objects.Items {
		object := &objects.Items[i]
		if !chosen(object.GetName()) {
			continue
		}
		if object.GetNamespace() != metav1.NamespaceDefault {
			left++
		}
		if object.GetDeletionTimestamp() != nil {
			continue
		}
		if err := deleteObject(ctx, from, resource, object); err != nil {
			return 0, err
		}
	}
	return left, nil
}

// deleteObject deletes an object with the UID given. A refusal is no error:
// admission may leave the deletion of an object to its controller.
func deleteObject(ctx context.Context, from *plane, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	uid, background := object.GetUID(), metav1.DeletePropagationBackground
	err := from.objects.Resource(resource).Namespace(object.GetNamespace()).Delete(ctx, object.GetName(), metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid},
		PropagationPolicy: &background,
	})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return fmt.Errorf("delete %s %s/%s: %w", resource.Resource, object.GetNamespace(), object.GetName(), err)
}
