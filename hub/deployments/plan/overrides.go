// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// addOverrides adds to condition Progressing the cities that wait for their turn for a changed override policy. Their
// cells report Instances that match what they run, so that no deadline passes while a city waits.
func (s *summary) addOverrides(progressing *metav1.Condition) {
	messages := notEmpty(progressing.Message)
	for i, turn := range s.rolling.result.Turns {
		if turn.Reason == rollout.OverrideQueued && len(messages) <= mostCities {
			messages = append(messages, s.rolling.state.Cities[i].Code+": "+turn.Message)
		}
	}
	if !rollout.Overridden(&s.rolling.state) {
		return
	}
	if isSettled(progressing) {
		progressing.Status, progressing.Reason = metav1.ConditionTrue, v1alpha.ReasonRollingOut
		if s.rolling.state.Paused {
			progressing.Status, progressing.Reason = metav1.ConditionUnknown, v1alpha.ReasonRolloutPaused
		}
	}
	progressing.Message = reasons.Shorten(strings.Join(messages, "; "), mostCities*2*v1alpha.MaxMessage)
}
