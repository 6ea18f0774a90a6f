// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// addProgress sets condition Progressing, with the city and the obstacle of its Instances. The condition is False if
// there was no progress for too long, and the deployment is requeued for that deadline. The time of the last progress
// is written with the counts that show the progress, and not while the Instances match the spec: a settled deployment
// needs no further write.
func (s *facts) addProgress(status *v1alpha.WorkloadDeploymentStatus) {
	reported := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionProgressing)
	if reported == nil || s.copied.Spec.Suspended || reported.Status == metav1.ConditionFalse && !s.isStuck() {
		return
	}
	now, last := s.now, s.lastProgress(status)
	status.LastProgressTime = &last
	since := reported.LastTransitionTime.Time
	if before := meta.FindStatusCondition(s.deployment.Status.Conditions, v1alpha.ConditionProgressing); before != nil && hasExceeded(before) {
		since = now
	}
	deadline := s.deployment.Spec.Rollout.ProgressDeadline()
	condition := metav1.Condition{
		Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonRollingOut,
		Message: fmt.Sprintf("%s: %s", s.deployment.Spec.CityCode, s.waitsFor(reported)),
	}
	if remaining := last.Add(deadline).Sub(now); remaining > 0 {
		s.requeueAfter.AtMost(remaining)
	} else {
		since = now
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha.ReasonProgressDeadlineExceeded
		condition.Message = fmt.Sprintf("%s: no progress for %s: %s", s.deployment.Spec.CityCode, deadline, s.waitsFor(reported))
	}
	condition.Message = reasons.Shorten(condition.Message, 2*v1alpha.MaxMessage)
	s.set(status, condition, since)
}

func hasExceeded(progressing *metav1.Condition) bool {
	return progressing.Reason == v1alpha.ReasonProgressDeadlineExceeded
}

// isStuck reports whether the cells have not acted on the newest copy, because the path to or from them is broken.
// Their report is about an earlier copy then.
func (s *facts) isStuck() bool {
	return len(s.findings) > 0 && s.copied.Status.ObservedGeneration != s.copied.Generation
}

// lastProgress returns when the Instances last made progress: now, if the status shows more progress than the one
// before. Ready Instances do not count: each restart of a container that crashes turns Ready on for a moment.
func (s *facts) lastProgress(status *v1alpha.WorkloadDeploymentStatus) metav1.Time {
	before := &s.deployment.Status
	old, now := before.ReplicaCounts, status.ReplicaCounts
	progressed := before.LastProgressTime == nil || before.ObservedGeneration != status.ObservedGeneration || s.isHeardAgain() ||
		old.DesiredReplicas != now.DesiredReplicas || old.CurrentReplicas < now.CurrentReplicas ||
		old.AvailableReplicas < now.AvailableReplicas ||
		old.Replicas-old.CurrentReplicas > now.Replicas-now.CurrentReplicas
	if !progressed {
		return *before.LastProgressTime
	}
	return metav1.NewTime(s.now).Rfc3339Copy()
}

// isHeardAgain reports whether the path to and from the cells is no longer broken. What they did meanwhile is not known:
// the deadline begins again.
func (s *facts) isHeardAgain() bool {
	return len(s.findings) == 0 && meta.IsStatusConditionFalse(s.deployment.Status.Conditions, v1alpha.ConditionStatusCurrent)
}

// waitsFor returns the obstacle: a broken path first, since it makes the report outdated.
func (s *facts) waitsFor(reported *metav1.Condition) string {
	if len(s.findings) > 0 {
		return described(&s.findings[0])
	}
	return reported.Message
}
