// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// TrimOriginal is the transform of a project's cache. It drops managed fields, and the metadata of a Workload that no
// controller reads: consumers write up to 1.5 MB of it, which admission does not review.
func TrimOriginal(obj any) (any, error) {
	if workload, ok := obj.(*v1alpha.Workload); ok {
		workload.Labels, workload.OwnerReferences = nil, nil
		if _, err := stripWorkload(obj); err != nil {
			return nil, err
		}
	}
	if object, ok := obj.(client.Object); ok {
		watch.BoundMetadata(object)
	}
	return obj, nil
}

// trimProject keeps of a Project what is read of it, and the labels that a selector reads.
func trimProject(metered labels.Selector) toolscache.TransformFunc {
	return func(obj any) (any, error) {
		project, ok := obj.(*Project)
		if !ok {
			return obj, nil
		}
		trimmed := &Project{ObjectMeta: metav1.ObjectMeta{
			Name: project.Name, UID: project.UID, ResourceVersion: project.ResourceVersion,
			CreationTimestamp: project.CreationTimestamp, DeletionTimestamp: project.DeletionTimestamp, Labels: map[string]string{},
		}}
		requirements, _ := metered.Requirements()
		for _, requirement := range requirements {
			if value, present := project.Labels[requirement.Key()]; present {
				trimmed.Labels[requirement.Key()] = value
			}
		}
		for _, kind := range []string{ConditionReady, ConditionSuspended} {
			if found := meta.FindStatusCondition(project.Status.Conditions, kind); found != nil {
				trimmed.Status.Conditions = append(trimmed.Status.Conditions, metav1.Condition{Type: kind, Status: found.Status})
			}
		}
		return trimmed, nil
	}
}

var stripWorkload = watch.StripAnnotations(v1alpha.AnnotationRolloutResumed, v1alpha.AnnotationRolloutData,
	v1alpha.AnnotationLeaveCities, v1alpha.AnnotationReturnRequested)
