// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestACacheThatBeginsEarlier: a rollout is not complete because the one before a change that was read is.
func TestACacheThatBeginsEarlier(t *testing.T) {
	known := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 2}}
	for name, test := range map[string]struct {
		read metav1.ObjectMeta
		want bool
	}{
		"earlier":          {read: metav1.ObjectMeta{UID: "1", Generation: 1}},
		"the same":         {read: metav1.ObjectMeta{UID: "1", Generation: 2}, want: true},
		"later":            {read: metav1.ObjectMeta{UID: "1", Generation: 3}, want: true},
		"another Workload": {read: metav1.ObjectMeta{UID: "2", Generation: 1}, want: true},
	} {
		read := &v1alpha.Workload{ObjectMeta: test.read}
		if got := newest(known, read) == read; got != test.want {
			t.Errorf("%s: read is taken: %t", name, got)
		}
	}
}

func TestRolloutMessage(t *testing.T) {
	tests := map[v1alpha.RolloutPhase]struct {
		done, fails bool
		want        string
	}{
		v1alpha.RolloutProgressing: {want: "rollout to finish: 2 of 4 Instances have the new template, 1 of them are Available: DFW: waits"},
		v1alpha.RolloutPaused:      {want: "rollout to finish"},
		v1alpha.RolloutComplete:    {want: `workload "web" successfully rolled out`, done: true},
		v1alpha.RolloutFailed:      {want: "2 of 4", done: true, fails: true},
		v1alpha.RolloutUndoing:     {want: "rollout to finish"},
		v1alpha.RolloutUndone:      {want: "2 of 4", done: true, fails: true},
	}
	for phase, test := range tests {
		workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 2}}
		workload.Status.ObservedGeneration = 2
		workload.Status.ReplicaCounts = v1alpha.ReplicaCounts{DesiredReplicas: 4, UpdatedReplicas: 2, UpdatedAvailableReplicas: 1}
		workload.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: phase, Message: "DFW: waits"}
		message, done, err := rolloutMessage(workload)
		if !strings.Contains(message, test.want) || done != test.done || (err != nil) != test.fails {
			t.Errorf("%s: %q, done %t, %v", phase, message, done, err)
		}
		workload.Status.Conditions = []metav1.Condition{{
			Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProgressDeadlineExceeded,
		}}
		if _, done, err := rolloutMessage(workload); !done || (err == nil) != (phase == v1alpha.RolloutComplete) {
			t.Errorf("%s, past the deadline: done %t, %v", phase, done, err)
		}
		workload.Generation = 3
		if _, done, _ := rolloutMessage(workload); done {
			t.Errorf("%s: done before the change is observed", phase)
		}
	}
}

func TestEarlierRevision(t *testing.T) {
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	var history []v1alpha.WorkloadRevision
	for number := int64(1); number <= 3; number++ {
		revision := v1alpha.WorkloadRevision{Spec: v1alpha.WorkloadRevisionSpec{Revision: number}}
		revision.Spec.Template.Labels = map[string]string{"version": string(rune('0' + number))}
		workload.Spec.Template = revision.Spec.Template
		history = append(history, revision)
	}
	for wanted, want := range map[int64]int64{0: 2, 1: 1, 2: 2, 3: 0, 4: 0} {
		got, err := earlier(history, workload, wanted)
		if (err != nil) != (want == 0) || err == nil && got.Spec.Revision != want {
			t.Errorf("to revision %d: %v, %v", wanted, got, err)
		}
	}
	if _, err := earlier(history[2:], workload, 0); err == nil {
		t.Error("there is an earlier one in a history of one")
	}
}

func TestPauseAndResume(t *testing.T) {
	workload := &v1alpha.Workload{}
	if setPaused(workload, false) == nil {
		t.Error("one that is not paused is resumed")
	}
	if err := setPaused(workload, true); err != nil || !workload.Spec.Rollout.Paused || setPaused(workload, true) == nil {
		t.Errorf("paused: %v", err)
	}
	if err := setPaused(workload, false); err != nil || workload.Spec.Rollout.Paused {
		t.Errorf("resumed: %v", err)
	}
	workload.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: v1alpha.RolloutPaused, TemplateHash: "hash"}
	if err := setPaused(workload, false); err != nil || workload.Annotations[v1alpha.AnnotationRolloutResumed] != "hash" {
		t.Errorf("resumed at pauseAfter: %v", err)
	}
}
