// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// addScheduled adds condition Scheduled while Karmada finds no cell for Instances of a deployment. Its time is the one
// of the deployment that has waited longest, and its message has the first of them in the order of the placements.
func (s *summary) addScheduled(status *v1alpha.WorkloadStatus) {
	var oldest *metav1.Condition
	var messages []string
	for i := range s.Workload.Spec.Placements {
		for _, deployment := range s.deploymentsOf(s.Workload.Spec.Placements[i].Name) {
			waits := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionScheduled)
			if waits == nil || waits.Status != metav1.ConditionFalse {
				continue
			}
			messages = append(messages, waits.Message)
			if oldest == nil || waits.LastTransitionTime.Before(&oldest.LastTransitionTime) {
				oldest = waits
			}
		}
	}
	if oldest == nil {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionScheduled)
		return
	}
	if more := len(messages) - mostCities; more > 0 {
		messages = append(messages[:mostCities], reasons.Count(more, "more deployment waits", "more deployments wait"))
	}
	condition := metav1.Condition{
		Type: v1alpha.ConditionScheduled, Status: metav1.ConditionFalse, Reason: oldest.Reason,
		Message:            reasons.Shorten(strings.Join(messages, "; "), maxScheduledMessage),
		LastTransitionTime: oldest.LastTransitionTime, ObservedGeneration: s.Workload.Generation,
	}
	if before := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionScheduled); before != nil {
		// In its place: the order of conditions is part of the status.
		*before = condition
		return
	}
	status.Conditions = append(status.Conditions, condition)
}

// maxScheduledMessage bounds the message of condition Scheduled, in bytes.
const maxScheduledMessage = 2 * v1alpha.MaxMessage
