// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestSummaryOfABlockedRollout: a rollout that is blocked is told although all Instances are Ready.
func TestSummaryOfABlockedRollout(t *testing.T) {
	t.Parallel()
	for status, told := range map[metav1.ConditionStatus]bool{metav1.ConditionTrue: true, metav1.ConditionFalse: false} {
		s := &Snapshot{Name: "web", Workload: &v1alpha.Workload{}}
		s.Workload.Status.Conditions = []metav1.Condition{{
			Type: v1alpha.ConditionDegraded, Status: status, Reason: v1alpha.ReasonRolloutBlocked, Message: "DFW: RuntimeClassNotServed",
		}}
		if got := s.Summary(); strings.Contains(got, "\nIts rollout is blocked: DFW: RuntimeClassNotServed") != told {
			t.Errorf("Degraded %s: %q", status, got)
		}
	}
}
