// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// conditionReady of a Project, and its only reason.
const conditionReady = "Ready"

// readyCondition returns the condition Ready that the Project should have, and
// whether it differs from the current one.
func readyCondition(project *unstructured.Unstructured, now time.Time) (map[string]any, bool, error) {
	var observed struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(project.Object, &observed); err != nil {
		return nil, false, fmt.Errorf("read the Project's status: %w", err)
	}
	conditions := observed.Status.Conditions
	changed := meta.SetStatusCondition(&conditions, metav1.Condition{
		Type:               conditionReady,
		Status:             metav1.ConditionTrue,
		Reason:             "Ready",
		Message:            "the project's control plane is served",
		ObservedGeneration: project.GetGeneration(),
		LastTransitionTime: metav1.NewTime(now),
	})
	condition, err := runtime.DefaultUnstructuredConverter.ToUnstructured(meta.FindStatusCondition(conditions, conditionReady))
	if err != nil {
		return nil, false, fmt.Errorf("write the Project's status: %w", err)
	}
	return condition, changed, nil
}

// identified returns an apply configuration for exactly this Project: with the
// UID, it neither recreates a deleted Project nor writes to a later one of the
// same name.
func identified(project *unstructured.Unstructured) *unstructured.Unstructured {
	configuration := &unstructured.Unstructured{}
	configuration.SetGroupVersionKind(project.GroupVersionKind())
	configuration.SetName(project.GetName())
	configuration.SetUID(project.GetUID())
	return configuration
}
