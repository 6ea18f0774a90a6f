// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

func TestSuspended(t *testing.T) {
	available := func(reason string) func(*v1alpha.Instance) {
		return func(i *v1alpha.Instance) {
			i.Status.Conditions = append(i.Status.Conditions,
				metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: reason})
		}
	}
	gone := instance("web-0", "h", "ProjectSuspended", available(v1alpha.ReasonProjectSuspended))
	tests := map[string]struct {
		instances   []v1alpha.Instance
		wantStopped metav1.ConditionStatus
		wantMessage string
	}{
		"no Instance":     {nil, metav1.ConditionTrue, "its Instances are stopped"},
		"all are stopped": {[]v1alpha.Instance{gone}, metav1.ConditionTrue, "its Instances are stopped"},
		"one has a Pod": {
			[]v1alpha.Instance{gone, instance("web-1", "h", "ProjectSuspended", available(v1alpha.ReasonStopping))},
			metav1.ConditionFalse, "1 of 2 Instances are not stopped",
		},
		"one is Ready": {
			[]v1alpha.Instance{instance("web-0", "h", "Available")}, metav1.ConditionFalse, "1 of 1 Instance is not stopped",
		},
		"one is not looked at": {[]v1alpha.Instance{instance("web-0", "h", "")}, metav1.ConditionFalse, "1 of 1 Instance is not stopped"},
		"one is being deleted": {
			[]v1alpha.Instance{instance("web-0", "h", "ProjectSuspended", available(v1alpha.ReasonProjectSuspended), deleted)},
			metav1.ConditionFalse, "1 of 1",
		},
		"one waits for its quota": {
			[]v1alpha.Instance{instance("web-0", "h", "ProjectSuspended", held, available(v1alpha.ReasonProjectSuspended))},
			metav1.ConditionTrue, "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := deployment(2)
			d.Spec.Suspended = true
			got := desiredStatus(d, newSummary(d, named("h"), test.instances), apply.Stamp{Generation: d.Generation, Now: now})
			if suspended := meta.FindStatusCondition(got.Conditions, v1alpha.ConditionSuspended); suspended.Status != test.wantStopped ||
				!strings.Contains(suspended.Message, test.wantMessage) {
				t.Errorf("got %+v", suspended)
			}
			if meta.IsStatusConditionFalse(got.Conditions, v1alpha.ConditionProgressing) != (test.wantStopped == metav1.ConditionTrue) {
				t.Error("Progressing contradicts Suspended")
			}
			if condition := meta.FindStatusCondition(got.Conditions, v1alpha.ConditionAvailable); condition.Status != metav1.ConditionFalse ||
				condition.Reason != v1alpha.ReasonProjectSuspended {
				t.Errorf("Available is %+v", condition)
			}
		})
	}
	if got := desiredStatus(deployment(1), newSummary(deployment(1), named("h"), nil),
		apply.Stamp{Now: now}); meta.FindStatusCondition(got.Conditions, v1alpha.ConditionSuspended) != nil {
		t.Error("a project that is not suspended has the condition")
	}
}
