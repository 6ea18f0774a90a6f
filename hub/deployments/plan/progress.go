// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// mostCities is how many deployments a message describes.
const mostCities = 3

// addProgress reports in status whether the Workload progresses, and what its deployments wait for. hub/projection
// judges their deadlines. The deadline of the Workload finds what no deployment reports: it has no deployment because
// its network is missing, or hub and cells disagree about what is newest.
func (s *summary) addProgress(status *v1alpha.WorkloadStatus, unsettled []*v1alpha.WorkloadDeployment) metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonSettled}
	if len(unsettled) == 0 && len(s.MissingNetworks)+len(s.Unread) == 0 {
		condition.Message = s.describeLeaving()
		return condition
	}
	last := s.lastProgress(unsettled)
	status.LastProgressTime = &last
	condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonRollingOut
	messages := notEmpty(s.describeMissingNetworks(), s.describeUnread())
	// A suspended project may wait indefinitely for a cell.
	if !status.Suspended && s.isOverdue(last) || slices.ContainsFunc(unsettled, hasExceeded) {
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha.ReasonProgressDeadlineExceeded
	}
	condition.Message = strings.Join(append(messages, describeProgress(unsettled)...), "; ")
	return condition
}

// isOverdue reports whether the last progress was too long ago, and requeues the Workload for that time.
func (s *summary) isOverdue(last metav1.Time) bool {
	remaining := last.Add(s.Workload.Spec.Rollout.ProgressDeadline()).Sub(s.Now)
	if remaining > 0 {
		s.Again.AtMost(remaining)
	}
	return remaining <= 0
}

// addRolloutProgress reports whether a rollout progresses while no deployment reports that it waits for anything: it is
// between two steps, or hub and cells disagree about what is newest. Then its deadline finds that.
func (s *summary) addRolloutProgress(status *v1alpha.WorkloadStatus, progressing *metav1.Condition) {
	before, last := &s.Workload.Status, s.lastProgress(nil)
	if len(s.rolling.result.Take) > 0 || before.UpdatedReplicas < status.UpdatedReplicas ||
		before.UpdatedAvailableReplicas < status.UpdatedAvailableReplicas {
		last = metav1.NewTime(s.Now).Rfc3339Copy()
	}
	status.LastProgressTime = &last
	progressing.Status, progressing.Reason, progressing.Message = metav1.ConditionTrue, v1alpha.ReasonRollingOut, status.Rollout.Message
	if !s.isOverdue(last) {
		return
	}
	progressing.Status, progressing.Reason = metav1.ConditionFalse, v1alpha.ReasonProgressDeadlineExceeded
	progressing.Message = fmt.Sprintf("no progress for %s: %s; no city reports what it waits for", s.Workload.Spec.Rollout.ProgressDeadline(),
		status.Rollout.Message)
	if status.Rollout.Phase == v1alpha.RolloutProgressing {
		s.failRollout(status.Rollout)
	}
}

// describeProgress describes what deployments wait for, deployments that exceed their deadlines first.
func describeProgress(unsettled []*v1alpha.WorkloadDeployment) []string {
	ordered := slices.Clone(unsettled)
	slices.SortStableFunc(ordered, func(a, b *v1alpha.WorkloadDeployment) int { return urgency(b) - urgency(a) })
	var messages []string
	for i, deployment := range ordered {
		if more := len(ordered) - i; i == mostCities && more > 1 {
			return append(messages, fmt.Sprintf("and %d more deployments", more))
		}
		messages = append(messages, waitsFor(deployment))
	}
	return messages
}

func urgency(deployment *v1alpha.WorkloadDeployment) int {
	if hasExceeded(deployment) {
		return 1
	}
	return 0
}

// waitsFor returns the message of a deployment's condition Progressing, which names the city.
func waitsFor(deployment *v1alpha.WorkloadDeployment) string {
	progressing := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionProgressing)
	switch {
	case progressing == nil:
		return deployment.Spec.CityCode + ": " + notReported
	case isSettled(progressing) || progressing.Message == "":
		return deployment.Spec.CityCode + ": the newest generation is not rolled out yet"
	}
	return reasons.Shorten(progressing.Message, v1alpha.MaxMessage)
}

// notReported describes a deployment without conditions.
const notReported = "its deployment has no status yet"

// settled reports whether the cells have acted on the newest generation of a deployment and have no change left to
// make.
func settled(deployment *v1alpha.WorkloadDeployment) bool {
	progressing := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionProgressing)
	return deployment.Status.ObservedGeneration == deployment.Generation && progressing != nil && isSettled(progressing)
}

func isSettled(progressing *metav1.Condition) bool {
	return progressing.Status == metav1.ConditionFalse && progressing.Reason != v1alpha.ReasonProgressDeadlineExceeded
}

func hasExceeded(deployment *v1alpha.WorkloadDeployment) bool {
	progressing := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionProgressing)
	return progressing != nil && progressing.Reason == v1alpha.ReasonProgressDeadlineExceeded
}

// lastProgress returns when the Workload last made progress: when its spec changed, or one of its deployments
// progressed.
func (s *summary) lastProgress(unsettled []*v1alpha.WorkloadDeployment) metav1.Time {
	before := &s.Workload.Status
	// The observed generation of the status stays behind while data is not read.
	progressing := meta.FindStatusCondition(before.Conditions, v1alpha.ConditionProgressing)
	if before.LastProgressTime == nil || progressing == nil || progressing.ObservedGeneration != s.Workload.Generation {
		return metav1.NewTime(s.Now).Rfc3339Copy()
	}
	last := *before.LastProgressTime
	for _, deployment := range unsettled {
		if at := deployment.Status.LastProgressTime; at != nil && last.Before(at) {
			last = *at
		}
	}
	return last
}
