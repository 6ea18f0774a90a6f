// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// tellOfAvailability records an event when the Workload becomes available or unavailable, and when a new reason for its
// unavailability requires an action.
func (s *scope) tellOfAvailability(next v1alpha.WorkloadStatus) {
	before := meta.FindStatusCondition(s.workload.Status.Conditions, v1alpha.ConditionAvailable)
	after := meta.FindStatusCondition(next.Conditions, v1alpha.ConditionAvailable)
	was := before != nil && before.Status == metav1.ConditionTrue
	switch {
	case after.Status == metav1.ConditionTrue:
		if !was {
			s.events.Eventf(s.workload, corev1.EventTypeNormal, after.Reason, "%s", about("The Workload is available", after.Message))
		}
	case before != nil && before.Status == after.Status && before.Reason == after.Reason:
	case after.Reason == v1alpha.ReasonNoMatchingLocation && len(s.plan.missing) > 0:
		// warnOfMissing records this event.
	case was || actedOn(after.Reason):
		s.events.Eventf(s.workload, corev1.EventTypeWarning, after.Reason, "%s", about("The Workload is not available", after.Message))
	}
}

// about appends the message of a condition, if it has one.
func about(statement, message string) string {
	if message == "" {
		return statement
	}
	return statement + ": " + reasons.Shorten(message, v1alpha.MaxMessage)
}

// actedOn reports whether a reason of Available requires an action.
func actedOn(reason string) bool {
	remedy, known := reasons.Of(v1alpha.ConditionAvailable, reason)
	return known && remedy.Actor != reasons.ActorNobody
}
