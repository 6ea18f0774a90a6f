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
