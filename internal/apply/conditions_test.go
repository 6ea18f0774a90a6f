// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/internal/apply"
)

func TestStamped(t *testing.T) {
	then := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := then.Add(time.Minute + 5*time.Millisecond)
	existing := []metav1.Condition{
		{Type: "Other", Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(then)},
		{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Old", ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(then)},
	}
	zero := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Old"}}
	tests := map[string]struct {
		existing []metav1.Condition
		status   metav1.ConditionStatus
		wantTime time.Time
	}{
		"the time is kept while the status is the same": {existing, metav1.ConditionFalse, then},
		"the time changes with the status":              {existing, metav1.ConditionTrue, now.Truncate(time.Second)},
		"the zero time is not kept":                     {zero, metav1.ConditionFalse, now.Truncate(time.Second)},
		"a new condition has the time to the second":    {nil, metav1.ConditionTrue, now.Truncate(time.Second)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := apply.StampedConditions(test.existing, apply.Stamp{Generation: 7, Now: now},
				metav1.Condition{Type: "Ready", Status: test.status, Reason: "New", Message: "m"})
			if len(got) != 1 || got[0].Reason != "New" || got[0].Message != "m" || got[0].ObservedGeneration != 7 {
				t.Fatalf("got %+v", got)
			}
			if !got[0].LastTransitionTime.Time.Equal(test.wantTime) {
				t.Errorf("transition time %s, want %s", got[0].LastTransitionTime, test.wantTime)
			}
		})
	}
	if existing[1].Reason != "Old" {
		t.Error("the existing conditions were changed")
	}
}

func TestInclude(t *testing.T) {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "R"}
	other := metav1.Condition{Type: "Other", Status: metav1.ConditionTrue, Reason: "O"}
	changed := ready
	changed.Message = "changed"
	tests := map[string]struct {
		existing, wanted []metav1.Condition
		want             bool
	}{
		"another order":       {[]metav1.Condition{other, ready}, []metav1.Condition{ready, other}, true},
		"more than is wanted": {[]metav1.Condition{other, ready}, []metav1.Condition{ready}, true},
		"a missing one":       {[]metav1.Condition{ready}, []metav1.Condition{ready, other}, false},
		"a changed one":       {[]metav1.Condition{changed}, []metav1.Condition{ready}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := apply.IncludeConditions(test.existing, test.wanted); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestMerged(t *testing.T) {
	then := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	now := metav1.NewTime(then.Add(time.Minute))
	existing := []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Old", LastTransitionTime: then},
		{Type: "Other", Status: metav1.ConditionTrue, Reason: "Other", ObservedGeneration: 3, LastTransitionTime: then},
	}
	got := apply.MergedConditions(existing, apply.Stamp{Generation: 7, Now: now.Time},
		metav1.Condition{Type: "New", Status: metav1.ConditionTrue, Reason: "New"},
		metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Later"})
	want := []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Later", ObservedGeneration: 7, LastTransitionTime: then},
		{Type: "Other", Status: metav1.ConditionTrue, Reason: "Other", ObservedGeneration: 3, LastTransitionTime: then},
		{Type: "New", Status: metav1.ConditionTrue, Reason: "New", ObservedGeneration: 7, LastTransitionTime: now},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if existing[0].Reason != "Old" {
		t.Error("the existing conditions were changed")
	}
}
