// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestScheduled: a Workload tells since when the first of its cities has waited for capacity, until none does.
func TestScheduled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	waits := func(city string, since int64) report {
		return report{reason: v1alpha.ReasonNoCapacity, message: "no room in " + city, rolling: true, condition: &metav1.Condition{
			Type: v1alpha.ConditionScheduled, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonNoCapacity, Message: "no room in " + city,
			LastTransitionTime: metav1.Unix(since, 0),
		}}
	}
	serves := report{reason: v1alpha.ReasonStableInstanceFound, ready: 2}
	want := func(dfw, ord report, since int64, messages ...string) {
		t.Helper()
		f.report(t, "web-main-dfw", dfw)
		f.report(t, "web-main-ord", ord)
		f.mustReconcile(t)
		got := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionScheduled)
		if since == 0 {
			if got != nil {
				t.Errorf("no city waits, and it is %+v", got)
			}
			return
		}
		if got == nil || got.Status != metav1.ConditionFalse || got.Reason != v1alpha.ReasonNoCapacity ||
			got.LastTransitionTime.Unix() != since || got.Message != strings.Join(messages, "; ") {
			t.Errorf("it is %+v, want since %d: %s", got, since, messages)
		}
		if writes := f.mustReconcile(t); len(writes) > 0 {
			t.Errorf("when nothing has changed, it writes %v", writes)
		}
	}
	want(waits("DFW", 3000), waits("ORD", 2000), 2000, "no room in DFW", "no room in ORD")
	if available := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions,
		v1alpha.ConditionAvailable); available.Reason != v1alpha.ReasonNoCapacity {
		t.Errorf("Available is %+v", available)
	}
	want(waits("DFW", 3000), serves, 3000, "no room in DFW")
	want(serves, serves, 0)
}
