// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"maps"
	"slices"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxAnnotation is the longest value of an annotation that is kept: no annotation that a controller reads has a longer
// one.
const maxAnnotation = 1 << 10

// StripAnnotations drops managed fields and all annotations except the given keys. kubectl writes the complete content
// of an applied Secret into an annotation, which would be held in memory with the metadata.
func StripAnnotations(keep ...string) toolscache.TransformFunc {
	return func(obj any) (any, error) {
		object, ok := obj.(client.Object)
		if !ok {
			// The last state of an object whose deletion was missed, which was transformed before.
			return obj, nil
		}
		object.SetManagedFields(nil)
		annotations := object.GetAnnotations()
		maps.DeleteFunc(annotations, func(key, value string) bool { return !slices.Contains(keep, key) || len(value) > maxAnnotation })
		object.SetAnnotations(annotations)
		return object, nil
	}
}

// OnlyIdentity drops all metadata except the identity of an object and its version: namespace, name, UID and resource
// version. It is for a cache of metadata that only shows which version of an object exists.
func OnlyIdentity(obj any) (any, error) {
	object, ok := obj.(client.Object)
	if !ok {
		return obj, nil
	}
	object.SetManagedFields(nil)
	object.SetAnnotations(nil)
	object.SetLabels(nil)
	object.SetOwnerReferences(nil)
	object.SetFinalizers(nil)
	return object, nil
}

// OnlyKeys is OnlyIdentity, but keeps the labels and annotations by some keys.
func OnlyKeys(keys ...string) toolscache.TransformFunc {
	return func(obj any) (any, error) {
		object, ok := obj.(client.Object)
		if !ok {
			return obj, nil
		}
		labels, annotations := keep(object.GetLabels(), keys), keep(object.GetAnnotations(), keys)
		_, err := OnlyIdentity(obj)
		object.SetLabels(labels)
		object.SetAnnotations(annotations)
		return object, err
	}
}

func keep(values map[string]string, keys []string) map[string]string {
	kept := map[string]string{}
	for _, key := range keys {
		if value, found := values[key]; found && len(value) <= maxAnnotation {
			kept[key] = value
		}
	}
	return kept
}

// maxMetadata is the most bytes of annotations and labels that Identity and Bounded keep of an object.
const maxMetadata = 16 << 10

// Identity drops everything of an object but its identity and its version: no controller believes its writer. A
// whole one may have a megabyte, in the memory of every replica.
func Identity[T client.Object](object T, empty T) T {
	empty.SetNamespace(object.GetNamespace())
	empty.SetName(object.GetName())
	empty.SetUID(object.GetUID())
	empty.SetResourceVersion(object.GetResourceVersion())
	return empty
}

// BoundMetadata drops managed fields, and annotations, labels, owners and finalizers that are larger than in any object that a controller
// reads.
func BoundMetadata(object client.Object) {
	object.SetManagedFields(nil)
	size := 0
	for _, values := range []map[string]string{object.GetAnnotations(), object.GetLabels()} {
		for key, value := range values {
			size += len(key) + len(value)
		}
	}
	for _, owner := range object.GetOwnerReferences() {
		size += len(owner.APIVersion) + len(owner.Kind) + len(owner.Name) + len(owner.UID)
	}
	for _, finalizer := range object.GetFinalizers() {
		size += len(finalizer)
	}
	if size > maxMetadata {
		object.SetAnnotations(nil)
		object.SetLabels(nil)
		object.SetOwnerReferences(nil)
		object.SetFinalizers(nil)
	}
}

// OnlyIn keeps the objects of some namespaces, with bounded metadata, and the Identity of all others.
func OnlyIn[T client.Object](isIn func(namespace string) bool, empty func() T) toolscache.TransformFunc {
	return func(obj any) (any, error) {
		object, ok := obj.(T)
		if !ok {
			return obj, nil
		}
		if !isIn(object.GetNamespace()) {
			return Identity(object, empty()), nil
		}
		BoundMetadata(object)
		return object, nil
	}
}
