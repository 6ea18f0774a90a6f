// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// TrimOriginal is the transform of a project's cache. It drops managed fields, and the metadata of a Workload that no
// controller reads: consumers write up to 1.5 MB of it, which admission does not review.
func TrimOriginal(obj any) (any, error) {
	if workload, ok := obj.(*v1alpha.Workload); ok {
		workload.Labels, workload.OwnerReferences = nil, nil
		return stripWorkload(obj)
	}
	return stripManagedFields(obj)
}

var stripManagedFields = cache.TransformStripManagedFields()

var stripWorkload = watch.StripAnnotations(v1alpha.AnnotationRolloutResumed, v1alpha.AnnotationRolloutData)
