// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// findEviction completes the status of a Pod that has ended without a reason. A kubelet drops its reason for an
// eviction when all containers end with exit code 0: then only its Event has it. This is one request, for a Pod that is
// about to be replaced.
func (s *scope) findEviction(ctx context.Context) error {
	if s.pod == nil || !finished(s.pod) || s.pod.Status.Reason != "" || s.pod.Status.Message != "" || !s.pod.DeletionTimestamp.IsZero() {
		return nil
	}
	if message := s.lastEvent(ctx, evicted); message != "" {
		s.pod = s.pod.DeepCopy()
		s.pod.Status.Reason, s.pod.Status.Message = evicted, message
	}
	return nil
}

// findProbeError finds out why a probe fails: only an Event of the kubelet has it. This is one request when the probe
// begins to fail; the message of Ready keeps the answer.
func (s *scope) findProbeError(ctx context.Context) error {
	if s.pod == nil || s.suspended || !s.pod.DeletionTimestamp.IsZero() || !s.instance.DeletionTimestamp.IsZero() {
		return nil
	}
	now := s.Clock.Now()
	if probing := examineProbes(s.pod); probing != nil && now.Before(probing.due) {
		s.RequeueAfter.AtMost(probing.due.Sub(now))
	}
	trouble := examine(s.pod, now)
	if trouble == nil || trouble.reason != v1alpha.ReasonProbeFailing {
		return nil
	}
	before := meta.FindStatusCondition(s.instance.Status.Conditions, v1alpha.ConditionReady)
	if before != nil && before.Reason == trouble.reason {
		if detail, same := strings.CutPrefix(before.Message, trouble.message+": "); same {
			s.probeError = detail
			return nil
		}
	}
	s.probeError = s.lastEvent(ctx, "Unhealthy")
	return nil
}

// lastEvent is the message of the last Event with a reason about the Pod; "" without one. It is only for a message: a
// failure is logged.
func (s *scope) lastEvent(ctx context.Context, reason string) string {
	var last corev1.Event
	page := &corev1.EventList{}
	for range maxPages {
		if err := s.APIReader.List(ctx, page, client.InNamespace(s.pod.Namespace), client.Limit(pageOfEvents), client.Continue(page.Continue),
			client.MatchingFields{"involvedObject.uid": string(s.pod.UID), "reason": reason}); err != nil {
			log.FromContext(ctx).Error(err, "Failed to list the Events of a Pod; its Instance does not show their message", "reason", reason)
			return ""
		}
		for i := range page.Items {
			if event := &page.Items[i]; !event.LastTimestamp.Before(&last.LastTimestamp) {
				last = *event
			}
		}
		if page.Continue == "" {
			break
		}
	}
	return last.Message
}

// The API server lists Events by name: the last one is on any page. A kubelet writes no more than some dozens about a
// Pod in the hour for which Events are kept.
const (
	pageOfEvents = 100
	maxPages     = 10
)
