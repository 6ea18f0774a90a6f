// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Passing reports whether a status, with its counts and conditions, is a transient state: since the status before, no
// Instance became Ready or Available or ceased to be, none was deleted, and the object has not settled. Most transient
// states are over before a reader sees them.
func Passing(before, after v1alpha.ReplicaCounts, conditionsBefore, conditionsAfter []metav1.Condition) bool {
	if before.ReadyReplicas != after.ReadyReplicas || before.AvailableReplicas != after.AvailableReplicas || before.Replicas > after.Replicas {
		return false
	}
	reached := func(condition string, status metav1.ConditionStatus) bool {
		return meta.IsStatusConditionPresentAndEqual(conditionsAfter, condition, status) &&
			!meta.IsStatusConditionPresentAndEqual(conditionsBefore, condition, status)
	}
	return !reached(v1alpha.ConditionProgressing, metav1.ConditionFalse) && !reached(v1alpha.ConditionSuspended, metav1.ConditionTrue) &&
		!settledAgain(conditionsBefore, conditionsAfter)
}

// settledAgain reports whether an object has settled for a newer generation than before: a step of a rollout that ends
// soon leaves as many Instances Ready as before, and the next step waits for its end.
func settledAgain(before, after []metav1.Condition) bool {
	was, now := meta.FindStatusCondition(before, v1alpha.ConditionProgressing), meta.FindStatusCondition(after, v1alpha.ConditionProgressing)
	return was != nil && now != nil && now.Status == metav1.ConditionFalse && was.ObservedGeneration < now.ObservedGeneration
}
