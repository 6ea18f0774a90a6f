// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// RolloutCount returns how far the rollout of a Workload is, in the numbers that all commands have of it.
func RolloutCount(status *v1alpha.WorkloadStatus) string {
	// Additional Instances of a rollout may have the template as well.
	return fmt.Sprintf("%d of %d Instances have the new template, %d of them are Available",
		min(status.UpdatedReplicas, status.DesiredReplicas), status.DesiredReplicas, min(status.UpdatedAvailableReplicas, status.DesiredReplicas))
}

// Unsettled returns a sentence about what the Workload has not reached; "": it is Ready with its newest template.
func (s *Snapshot) Unsettled() string {
	w := s.Workload
	if w == nil || s.IsDeleting() {
		return ""
	}
	ready, rollout := meta.FindStatusCondition(w.Status.Conditions, v1alpha.ConditionReady), w.Status.Rollout
	switch {
	case w.Status.ObservedGeneration > 0 && w.Status.ObservedGeneration < w.Generation:
		return " The add-on has not seen the last change of the Workload yet."
	case ready == nil || ready.Status == metav1.ConditionTrue:
		return ""
	case rollout == nil || rollout.Phase == v1alpha.RolloutComplete:
		return fmt.Sprintf(" The Workload is not Ready: %s: %s.", ready.Reason, cmp.Or(ready.Message, "its conditions have the cause"))
	}
	text := map[v1alpha.RolloutPhase]string{
		v1alpha.RolloutProgressing: "progresses", v1alpha.RolloutPaused: "is paused by " + s.pausedBy(),
		v1alpha.RolloutFailed: "has stopped: it has failed", v1alpha.RolloutUndoing: "has failed, and is being undone",
		v1alpha.RolloutUndone: "has failed, and was undone",
	}[rollout.Phase]
	text = fmt.Sprintf(" The rollout of revision %d %s: %s", rollout.Revision, text, RolloutCount(&w.Status))
	if rollout.Message != "" {
		text += ": " + rollout.Message
	}
	return text + "."
}

// pausedBy names what has paused the rollout: the plan in its spec, or who has set spec.rollout.paused, and when.
func (s *Snapshot) pausedBy() string {
	spec := s.Workload.Spec.Rollout
	if spec == nil || !spec.Paused {
		return "spec.rollout.pauseAfter"
	}
	path := fieldpath.MakePathOrDie("spec", "rollout", "paused")
	for _, entry := range s.Workload.ManagedFields {
		set := &fieldpath.Set{}
		if entry.FieldsV1 == nil || set.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) != nil || !set.Has(path) {
			continue
		}
		if entry.Time == nil {
			return entry.Manager
		}
		return fmt.Sprintf("%s, %s ago", entry.Manager, duration.HumanDuration(max(s.Now.Sub(entry.Time.Time), time.Duration(0))))
	}
	return "spec.rollout.paused"
}
