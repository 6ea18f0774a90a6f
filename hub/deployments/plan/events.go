// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Event is an Event about a Workload.
type Event struct{ Type, Reason, Message string }

// compare adds the Events of what the next status changes.
func (s *summary) compare(next *v1alpha.WorkloadStatus) {
	s.ofMissing(next)
	s.ofAvailability(next)
	s.ofProgress(next)
	s.ofRollout(next)
	s.ofType(next)
}

func (s *summary) tell(kind, reason, message string) {
	s.events = append(s.events, Event{Type: kind, Reason: reason, Message: message})
}

// ofAvailability records an event when the Workload becomes available or unavailable, and when a new reason for its
// unavailability requires an action.
func (s *summary) ofAvailability(next *v1alpha.WorkloadStatus) {
	before := meta.FindStatusCondition(s.Workload.Status.Conditions, v1alpha.ConditionAvailable)
	after := meta.FindStatusCondition(next.Conditions, v1alpha.ConditionAvailable)
	was := before != nil && before.Status == metav1.ConditionTrue
	switch {
	case after.Status == metav1.ConditionTrue:
		if !was {
			s.tell(corev1.EventTypeNormal, after.Reason, about("The Workload is available", after.Message))
		}
	case before != nil && before.Status == after.Status && before.Reason == after.Reason:
	case after.Reason == v1alpha.ReasonNoMatchingLocation && len(s.missing) > 0:
		// ofMissing records this event.
	case was || actedOn(after.Reason):
		s.tell(corev1.EventTypeWarning, after.Reason, about("The Workload is not available", after.Message))
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

// ofProgress records an event if there is no progress for too long.
func (s *summary) ofProgress(next *v1alpha.WorkloadStatus) {
	before := meta.FindStatusCondition(s.Workload.Status.Conditions, v1alpha.ConditionProgressing)
	after := meta.FindStatusCondition(next.Conditions, v1alpha.ConditionProgressing)
	if after.Reason != v1alpha.ReasonProgressDeadlineExceeded || before != nil && before.Reason == after.Reason {
		return
	}
	s.tell(corev1.EventTypeWarning, after.Reason, reasons.Shorten(after.Message, v1alpha.MaxMessage))
}

// ofRollout records an event when the phase of the rollout changes, and when an Instance cannot become Available.
func (s *summary) ofRollout(next *v1alpha.WorkloadStatus) {
	before, after := s.Workload.Status.Rollout, next.Rollout
	degraded := meta.FindStatusCondition(next.Conditions, v1alpha.ConditionDegraded)
	available := meta.FindStatusCondition(next.Conditions, v1alpha.ConditionAvailable)
	if degraded.Status == metav1.ConditionTrue && available.Reason != degraded.Reason && // else ofAvailability tells it
		!meta.IsStatusConditionTrue(s.Workload.Status.Conditions, v1alpha.ConditionDegraded) {
		s.tell(corev1.EventTypeWarning, degraded.Reason, reasons.Shorten(degraded.Message, v1alpha.MaxMessage))
	}
	if before == nil || before.Phase == after.Phase && before.TemplateHash == after.TemplateHash {
		return
	}
	if before.CompleteTemplateHash == "" && before.TemplateHash == after.TemplateHash {
		// The first creation is no rollout.
		return
	}
	kind := corev1.EventTypeNormal
	if after.Phase == v1alpha.RolloutFailed || after.Phase == v1alpha.RolloutUndoing {
		kind = corev1.EventTypeWarning
	}
	s.tell(kind, "Rollout"+string(after.Phase),
		about(fmt.Sprintf("Revision %d: %s", after.Revision, after.Phase), after.Message))
}

// ofMissing tells when a city or location is missing, once per change of the message.
func (s *summary) ofMissing(next *v1alpha.WorkloadStatus) {
	before := meta.FindStatusCondition(s.Workload.Status.Conditions, v1alpha.ConditionAvailable)
	after := meta.FindStatusCondition(next.Conditions, v1alpha.ConditionAvailable)
	if len(s.missing) == 0 || (before != nil && before.Message == after.Message) {
		return
	}
	s.tell(corev1.EventTypeWarning, v1alpha.ReasonNoMatchingLocation, after.Message)
}

// ofType tells when a condition about the type becomes True.
func (s *summary) ofType(next *v1alpha.WorkloadStatus) {
	for _, name := range []string{v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ConditionInstanceTypeDisabled} {
		after := meta.FindStatusCondition(next.Conditions, name)
		if after == nil || after.Status != metav1.ConditionTrue || meta.IsStatusConditionTrue(s.Workload.Status.Conditions, name) {
			continue
		}
		s.tell(corev1.EventTypeWarning, after.Reason, after.Message)
	}
}
