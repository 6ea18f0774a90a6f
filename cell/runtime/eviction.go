// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// findEviction completes the status of a Pod that has ended without a reason. A kubelet drops its reason for an
// eviction when all containers end with exit code 0: then only its Event has it. This is one request, for a Pod that is
// about to be replaced.
func (s *scope) findEviction(ctx context.Context) error {
	if s.pod == nil || !finished(s.pod) || s.pod.Status.Reason != "" || s.pod.Status.Message != "" || !s.pod.DeletionTimestamp.IsZero() {
		return nil
	}
	list := &corev1.EventList{}
	if err := s.APIReader.List(ctx, list, client.InNamespace(s.pod.Namespace), client.Limit(1),
		client.MatchingFields{"involvedObject.uid": string(s.pod.UID), "reason": evicted}); err != nil {
		// It is only for the message.
		log.FromContext(ctx).Error(err, "Failed to list the Events of an ended Pod; its Instance does not show an eviction")
		return nil
	}
	if len(list.Items) == 0 {
		return nil
	}
	s.pod = s.pod.DeepCopy()
	s.pod.Status.Reason, s.pod.Status.Message = evicted, list.Items[0].Message
	return nil
}
