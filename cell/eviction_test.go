// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestEviction: an Instance whose Pod was evicted has the kubelet's reason, also when only the Event has it.
func TestEviction(t *testing.T) {
	const limit = "Pod ephemeral local storage usage exceeds the total limit of containers 10Mi."
	for name, test := range map[string]struct {
		status corev1.PodStatus
		event  string
		want   string
		reason string
	}{
		"in the status of the Pod": {
			corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: limit},
			"",
			"the Pod has ended and is being replaced: Evicted: " + limit, v1alpha.ReasonEvicted,
		},
		"in the Event": {
			corev1.PodStatus{Phase: corev1.PodSucceeded},
			"Evicted",
			"the Pod has ended and is being replaced: Evicted: " + limit, v1alpha.ReasonEvicted,
		},
		"in no Event": {
			corev1.PodStatus{Phase: corev1.PodSucceeded}, "Killing", "the Pod has ended and is being replaced", v1alpha.ReasonProvisioning,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			pod := f.setPod(f.pod(f.instance(f.deployment(1), 0)), test.status)
			if test.event != "" {
				f.create(&corev1.Event{
					ObjectMeta:     metav1.ObjectMeta{Namespace: pod.Namespace, Name: "web-0.1"},
					InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
					Reason:         test.event, Message: limit, Type: corev1.EventTypeWarning,
				})
			}
			f.clock.SetTime(pod.CreationTimestamp.Time)
			f.reconcile(f.runtime(), "web-0")
			ready := meta.FindStatusCondition(f.storedInstance("web-0").Status.Conditions, v1alpha.ConditionReady)
			if ready == nil || ready.Reason != test.reason || ready.Message != test.want {
				t.Errorf("Ready is %+v, want %s: %s", ready, test.reason, test.want)
			}
		})
	}
}

// TestTheLastEvent: a kubelet writes an Event for each message of a failing probe, and the API server lists them by
// name.
func TestTheLastEvent(t *testing.T) {
	f := newFixture(t)
	pod := f.setPod(f.pod(f.instance(f.deployment(1), 0)), corev1.PodStatus{Phase: corev1.PodSucceeded})
	for n := range 25 {
		f.create(&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: pod.Namespace, Name: fmt.Sprintf("web-0.%02d", n)},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Reason:         "Evicted", Message: fmt.Sprintf("number %d", n), LastTimestamp: metav1.NewTime(now.Add(time.Duration(n) * time.Second)),
		})
	}
	f.clock.SetTime(pod.CreationTimestamp.Time)
	f.reconcile(f.runtime(), "web-0")
	ready := meta.FindStatusCondition(f.storedInstance("web-0").Status.Conditions, v1alpha.ConditionReady)
	if ready == nil || !strings.HasSuffix(ready.Message, "Evicted: number 24") {
		t.Errorf("Ready is %+v, want the message of the last Event", ready)
	}
}
