// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// conditions are the deployment's conditions.
func (s *summary) conditions() []metav1.Condition {
	result := []metav1.Condition{s.available(), s.progressing(), s.replicasReady()}
	if s.suspended {
		result = s.suspendedConditions()
	}
	if s.refused.Any() {
		result = append(result, metav1.Condition{
			Type: v1alpha.ConditionSpecReceived, Status: metav1.ConditionFalse, Reason: s.refused.Reason(), Message: s.refused.Message(),
		})
	}
	if s.unaccepted != nil && !s.suspended {
		result = append(result, *s.unaccepted)
	}
	return result
}

// suspendedConditions report that the project is suspended, and whether any Instance still runs.
func (s *summary) suspendedConditions() []metav1.Condition {
	left := s.counts.Replicas - s.stopped
	message := "the project is suspended; its Instances are stopped"
	progressing, reason, stopped := metav1.ConditionFalse, v1alpha.ReasonProjectSuspended, metav1.ConditionTrue
	if left > 0 {
		message = fmt.Sprintf("the project is suspended; %d of %s not stopped yet", left,
			reasons.Count(s.counts.Replicas, "Instance is", "Instances are"))
		progressing, reason, stopped = metav1.ConditionTrue, v1alpha.ReasonSuspending, metav1.ConditionFalse
	}
	return []metav1.Condition{
		{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProjectSuspended, Message: message},
		{Type: v1alpha.ConditionProgressing, Status: progressing, Reason: reason, Message: message},
		{Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProjectSuspended, Message: message},
		{Type: v1alpha.ConditionSuspended, Status: stopped, Reason: reason, Message: message},
	}
}

// stopped reports whether an Instance has no Pod any more because its project is suspended.
func stopped(instance *v1alpha.Instance) bool {
	available := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionAvailable)
	return instance.DeletionTimestamp.IsZero() && available != nil && available.Reason == v1alpha.ReasonProjectSuspended
}
