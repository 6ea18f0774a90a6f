// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestTheQuestionsOutliveAProcess: a replica that restarts between any two answers, or passes the project on, withdraws
// it as early as one that does not.
func TestTheQuestionsOutliveAProcess(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(*testing.T, *namespacesFixture){
		"restarts": func(t *testing.T, f *namespacesFixture) { t.Helper(); f.restart(t) },
		"another replica": func(t *testing.T, f *namespacesFixture) {
			t.Helper()
			f.roster.lost = true
			f.reconcile(t)
			f.roster.lost = false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newNamespacesFixture(t)
			began := f.clock.Now()
			for range ownership.AnswersNeeded - 1 {
				f.clock.SetTime(f.clock.Now().Add(f.reconcile(t)))
				between(t, f)
			}
			f.reconcile(t)
			if !f.isDeleted(t, f.copied) || f.roster.asked != ownership.AnswersNeeded {
				t.Errorf("after %v and %d answers nothing is withdrawn", f.clock.Since(began), f.roster.asked)
			}
		})
	}
}

// TestAnOldRecordProvesNothing: answers from before a long pause are not in a row with the next one, and a record that
// no replica writes counts as none.
func TestAnOldRecordProvesNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	earlier := func(d time.Duration) string { return now.Add(-d).Format(time.RFC3339) }
	for _, record := range []string{
		earlier(time.Hour) + " " + earlier(time.Hour/2) + " 2", earlier(time.Minute) + " " + earlier(time.Second) + " 3",
		earlier(time.Minute) + " " + earlier(-time.Minute) + " 2", earlier(time.Second) + " " + earlier(time.Minute) + " 2", "2", "a b 2",
	} {
		f := newNamespacesFixture(t)
		planes.Change(t, f.Planes, f.namespace(), func(n *corev1.Namespace) { n.Annotations[v1alpha.AnnotationAbsent] = record })
		for range ownership.AnswersNeeded - 1 {
			f.clock.SetTime(f.clock.Now().Add(f.reconcile(t)))
			if f.isDeleted(t, f.copied) {
				t.Errorf("record %q counts", record)
			}
		}
	}
}
