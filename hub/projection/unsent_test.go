// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/karmada-io/karmada/pkg/events"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// warn plays Karmada, which writes an Event about the copy.
func (f *fixture) warn(t *testing.T, reason, message string) {
	t.Helper()
	planes.Create(t, f.Planes, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: f.copied.Name + ".", Namespace: f.copied.Namespace},
		InvolvedObject: corev1.ObjectReference{
			Kind: v1alpha.KindWorkloadDeployment, Namespace: f.copied.Namespace, Name: f.copied.Name, UID: f.copied.UID,
		},
		Type: corev1.EventTypeWarning, Reason: reason, Message: message, LastTimestamp: f.now(),
	})
}

// lists counts the reads of Events.
func (f *fixture) lists(t *testing.T) int {
	t.Helper()
	count := 0
	for _, call := range f.HubAPI.Calls() {
		if call.Verb == "list" {
			count++
		}
	}
	return count
}

func (f *fixture) current(t *testing.T) *metav1.Condition {
	t.Helper()
	return meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionStatusCurrent)
}

// TestAnOverrideThatIsNotApplied: the policy and Karmada's error are shown, and the Instances stay as the cell reports them.
func TestAnOverrideThatIsNotApplied(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	if reads := f.lists(t); reads > 0 {
		t.Errorf("it reads Events %d times while nothing is wrong", reads)
	}
	f.warn(t, events.EventReasonApplyOverridePolicyFailed, "Apply override policy(ns/old) for cluster("+f.cell.Name+") failed.")
	f.pass(time.Hour)
	f.assign(t, 0, 1, 2)
	f.mustReconcile(t)
	f.warn(t, events.EventReasonApplyOverridePolicyFailed, "Apply override policy(ns/other) for cluster(another) failed.")
	f.pass(doubtAfter)
	f.mustReconcile(t)
	f.expectDoubt(t, v1alpha.ReasonReportOutdated, "cell "+f.cell.Name, f.clock.Now().Add(-doubtAfter))

	f.warn(t, events.EventReasonApplyOverridePolicyFailed, "Apply override policy(ns/mirror) for cluster("+f.cell.Name+") failed.")
	f.warn(t, events.EventReasonSyncWorkFailed, "doc is missing \x1b[31mpath: "+strings.Repeat("/x", v1alpha.MaxMessage))
	f.HubAPI.Before(func(planes.Call) error { return testenv.ErrFault })
	if err := f.reconcile(t); err == nil {
		t.Error("a hub that does not answer is no answer")
	}
	f.HubAPI.Before(nil)
	f.HubAPI.Calls()
	f.mustReconcile(t)
	got := f.current(t)
	if got.Status != metav1.ConditionFalse || got.Reason != v1alpha.ReasonOverrideNotApplied || len(got.Message) > v1alpha.MaxMessage ||
		!strings.Contains(got.Message, "cell "+f.cell.Name+": Karmada does not send the deployment: Apply override policy(ns/mirror)") ||
		!strings.Contains(got.Message, "failed: doc is missing") || strings.Contains(got.Message, "\x1b") {
		t.Errorf("StatusCurrent is %+v", got)
	}
	if reads := f.lists(t); reads != 1 {
		t.Errorf("it reads Events %d times", reads)
	}
	shows := func() {
		t.Helper()
		ready := meta.FindStatusCondition(f.readInstance(t, "web-0").Status.Conditions, v1alpha.ConditionReady)
		status := f.readOriginal(t).Status
		if ready.Status != metav1.ConditionTrue || status.ReadyReplicas != 2 {
			t.Errorf("Ready is %+v, the counts %+v", ready, status.ReplicaCounts)
		}
	}
	shows()
	// Another replica shows the same at once.
	f.reconciler = New(f.reconciler.Options)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
	f.HubAPI.Before(func(planes.Call) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errors.New("by a role"))
	})
	f.mustReconcile(t)
	if got := f.current(t); got.Reason != v1alpha.ReasonReportOutdated {
		t.Errorf("without the right to read Events StatusCurrent is %+v", got)
	}
	f.HubAPI.Before(nil)
	f.mustReconcile(t)
	shows()
	f.serve(t)
	if got := f.current(t); got.Status != metav1.ConditionTrue {
		t.Errorf("when the policy is corrected StatusCurrent is %+v", got)
	}
}
