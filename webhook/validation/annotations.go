// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// SuspensionAdvice is the alternative to setting v1alpha.AnnotationSuspended.
const SuspensionAdvice = "has no effect; to stop what a project runs, suspend the project itself"

// Annotations returns the problems of an object's annotations. On an update, before is the stored object, whose problems are not
// reported.
func Annotations(object, before metav1.Object) field.ErrorList {
	if !Suspends(object, before) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "annotations").Key(v1alpha.AnnotationSuspended), SuspensionAdvice)}
}

// Suspends reports whether an object has v1alpha.AnnotationSuspended and the stored object did not. On a create, before is nil.
func Suspends(object, before metav1.Object) bool {
	_, now := object.GetAnnotations()[v1alpha.AnnotationSuspended]
	if before == nil {
		return now
	}
	_, then := before.GetAnnotations()[v1alpha.AnnotationSuspended]
	return now && !then
}
