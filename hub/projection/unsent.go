// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/karmada-io/karmada/pkg/events"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// mostWarnings bounds how many Events about a copy are read: others may write Events, too.
const mostWarnings = 20

// retriedWithin is the longest pause after which Karmada retries and reports the failure. An older Event has another cause.
const retriedWithin = 1000 * time.Second

// isUnsent reports whether a finding is that Karmada does not send the copy to a cell.
func isUnsent(found *path.Finding) bool {
	return found.Slice == "" && (found.Fault == path.WorkMissing || found.Fault == path.WorkOutdated)
}

// explainUnsent names the override policy by which Karmada does not send the copy. Only its Events have the cause.
func (s *scope) explainUnsent(ctx context.Context) error {
	if !slices.ContainsFunc(s.findings, func(f path.Finding) bool { return isUnsent(&f) }) {
		return nil
	}
	var list corev1.EventList
	err := s.APIReader.List(ctx, &list, client.InNamespace(s.copied.Namespace), client.Limit(mostWarnings),
		client.MatchingFields{"involvedObject.uid": string(s.copied.UID), "type": corev1.EventTypeWarning})
	if apierrors.IsForbidden(err) {
		log.FromContext(ctx).Error(err, "Karmada does not send a deployment, and the add-on may not read why",
			"copy", client.ObjectKeyFromObject(s.copied))
		return nil
	}
	if err != nil {
		return fmt.Errorf("list Karmada's Events about the hub's copy, which it does not send: %w", err)
	}
	for i := range s.findings {
		found := &s.findings[i]
		failed := newest(list.Items, events.EventReasonApplyOverridePolicyFailed, "cluster("+found.Cell+")")
		if !isUnsent(found) || failed == nil || failed.LastTimestamp.Time.Before(found.Since.Add(-retriedWithin)) {
			continue
		}
		message := strings.TrimSuffix(failed.Message, ".")
		if sync := newest(list.Items, events.EventReasonSyncWorkFailed, ""); sync != nil {
			message += ": " + sync.Message
		}
		found.Fault, found.Message = path.OverrideNotApplied, "Karmada does not send the deployment: "+reasons.Clean(message)
	}
	return nil
}

// newest returns the newest Event with a reason whose message has a part; nil: there is none.
func newest(list []corev1.Event, reason, part string) *corev1.Event {
	var result *corev1.Event
	for i := range list {
		event := &list[i]
		if event.Reason == reason && strings.Contains(event.Message, part) &&
			(result == nil || result.LastTimestamp.Before(&event.LastTimestamp)) {
			result = event
		}
	}
	return result
}
