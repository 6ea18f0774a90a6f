// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/references/choice"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// workload is a Workload of the namespace whose data is part of its revisions, or was.
type workload struct {
	*v1alpha.Workload
	// rolling maps the objects whose content is part of the revision to whether Instances start without them.
	rolling map[templates.DataObject]bool
	// data is the status.data that the Workload should have; nil: none.
	data *v1alpha.WorkloadDataStatus
	// findings are why a newer content is not chosen, and held the objects that an undo holds. waits are the objects
	// whose newest content is taken later.
	findings    []finding
	held, waits []string
	// unknown: an object could not be read.
	unknown bool
}

// rollsData reports whether data is part of the revisions of a Workload, or was.
func rollsData(w *v1alpha.Workload) bool {
	return w.Spec.Rollout.RollsOutData() || w.Status.Data != nil ||
		meta.FindStatusCondition(w.Status.Conditions, v1alpha.ConditionDataCurrent) != nil
}

// loadWorkloads reads the Workloads of the namespace whose data is part of their revisions.
func (s *scope) loadWorkloads(ctx context.Context) error {
	var list v1alpha.WorkloadList
	if err := s.project.List(ctx, &list, client.InNamespace(s.namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the project's Workloads: %w", err)
	}
	for i := range list.Items {
		w := &list.Items[i]
		if w.DeletionTimestamp.IsZero() && rollsData(w) {
			s.workloads = append(s.workloads, &workload{Workload: w, rolling: templates.RollingData(w.Spec.Rollout, &w.Spec.Template)})
		}
	}
	return nil
}

// rollsData reports whether data is part of the revisions of the Workload of a deployment, or was.
func (s *facts) rollsData(d *v1alpha.WorkloadDeployment) bool {
	return slices.ContainsFunc(s.workloads, func(w *workload) bool { return string(w.UID) == d.Labels[v1alpha.LabelWorkloadUID] })
}

// chooseData chooses the content that each Workload is started with, and notes the snapshots of it. They are written
// before the Workload names them.
func (s *scope) chooseData(ctx context.Context) error {
	newest := map[templates.DataObject]contentHash{}
	var failed []error
	for _, w := range s.workloads {
		failed = append(failed, s.choose(ctx, w, newest))
		if w.data != nil {
			s.includeSnapshots(w.UID, w.data.Objects)
		}
	}
	s.sources.rememberNewest(s.namespace, newest)
	return errors.Join(failed...)
}

// choose sets the data of a Workload, from the newest contents of its objects in the project.
func (s *scope) choose(ctx context.Context, w *workload, newest map[templates.DataObject]contentHash) error {
	if len(w.rolling) == 0 {
		return nil
	}
	state := choice.State{
		Before: w.Status.Data, Holds: templates.ParseHolds(w.Annotations[v1alpha.AnnotationRolloutData]), HasSnapshot: s.hasSnapshot,
		Rolling: isRolling(w.Status.Rollout), MaxBytes: maxTogether, Now: s.Clock.Now(),
	}
	var failed []error
	for _, object := range slices.SortedFunc(maps.Keys(w.rolling), templates.DataObject.Compare) {
		// Many Workloads may name one object.
		now, known := newest[object]
		var err error
		if !known {
			now, err = s.newest(ctx, object)
		}
		candidate := w.candidate(object, &now)
		if err == nil {
			candidate.Newest, err = s.recordedAs(ctx, &candidate, &state)
		}
		if err != nil {
			w.unknown = true
			failed = append(failed, fmt.Errorf("read %s %s in namespace %s of the project: %w",
				object.Kind, object.Name, s.namespace, withoutContent(err)))
		} else if now.version != "" {
			newest[object] = now
		}
		state.Objects = append(state.Objects, candidate)
	}
	chosen := choice.Choose(&state)
	w.explain(&chosen)
	if w.data = chosen.Data; chosen.Wait > 0 {
		s.requeueAfter.AtMost(chosen.Wait)
	}
	return errors.Join(failed...)
}

// candidate returns an object for the choice, and notes why its content cannot be used.
func (w *workload) candidate(object templates.DataObject, now *contentHash) choice.Object {
	candidate := choice.Object{DataObject: object, Optional: w.rolling[object], Newest: now.hash, Bytes: now.bytes}
	switch {
	case now.reason == v1alpha.ReasonSourceNotFound && candidate.Optional:
		candidate.Newest = templates.AbsentData
	case now.reason != "":
		w.findings, candidate.Newest = append(w.findings, now.finding), ""
	}
	return candidate
}

// explain notes why a choice is not the newest contents.
func (w *workload) explain(chosen *choice.Result) {
	for _, held := range chosen.Held {
		w.held = append(w.held, fmt.Sprintf("%s %s at %s, and the content in the project is %s", held.Kind, held.Name, held.Hash, held.Newest))
	}
	for _, dataVersion := range chosen.Gone {
		w.findings = append(w.findings, finding{reason: v1alpha.ReasonSnapshotGone, message: fmt.Sprintf(
			"content %s of %s %s is no longer kept, and nothing was changed; write the content into the %s, or roll back to another revision",
			dataVersion.Hash, dataVersion.Kind, dataVersion.Name, dataVersion.Kind)})
	}
	for _, object := range chosen.Waits {
		w.waits = append(w.waits, object.Kind+" "+object.Name)
	}
	if chosen.TooLarge > 0 {
		w.findings = append(w.findings, finding{reason: v1alpha.ReasonSourceTooLarge, message: fmt.Sprintf(
			"the objects that roll out with the Workload hold %d bytes together and at most %d are copied to cells; make them smaller or name fewer",
			chosen.TooLarge, maxTogether)})
	}
}

// isRolling reports whether a rollout has not ended. status may be nil.
func isRolling(status *v1alpha.WorkloadRolloutStatus) bool {
	return status != nil &&
		slices.Contains([]v1alpha.RolloutPhase{v1alpha.RolloutProgressing, v1alpha.RolloutPaused, v1alpha.RolloutUndoing}, status.Phase)
}

// writeData writes status.data and condition DataCurrent of the Workloads. Data of which a snapshot is missing on the hub
// is not written: nothing may name it. Before the first deployment there is no hub namespace: its snapshots follow.
func (s *scope) writeData(ctx context.Context) error {
	var failed []error
	for _, w := range s.workloads {
		failed = append(failed, s.writeDataOf(ctx, w))
	}
	return errors.Join(failed...)
}

func (s *scope) writeDataOf(ctx context.Context, w *workload) error {
	if found, ready := s.snapshotsOf(w); !ready {
		w.data = w.Status.Data
		if w.findings = append(w.findings, found...); len(w.findings) == 0 {
			w.unknown = true
		}
	}
	var wanted []metav1.Condition
	existing := meta.FindStatusCondition(w.Status.Conditions, v1alpha.ConditionDataCurrent)
	switch {
	case w.unknown && existing != nil:
		// The present condition is more useful than a failed read.
		wanted = []metav1.Condition{*existing}
	case len(w.rolling) > 0:
		wanted = apply.StampedConditions(w.Status.Conditions, apply.Stamp{Generation: w.Generation, Now: s.Clock.Now()}, w.condition())
	}
	if (existing == nil) == (len(wanted) == 0) && apply.IncludeConditions(w.Status.Conditions, wanted) &&
		equality.Semantic.DeepEqual(w.data, w.Status.Data) {
		return nil
	}
	return apply.StatusFields(ctx, s.project, FieldManager, w.Workload, dataStatus{Conditions: wanted, Data: w.data})
}

// dataStatus is the part of the status of a Workload that this controller writes.
type dataStatus struct {
	Conditions []metav1.Condition          `json:"conditions,omitempty"`
	Data       *v1alpha.WorkloadDataStatus `json:"data,omitempty"`
}

// condition returns DataCurrent.
func (w *workload) condition() metav1.Condition {
	result := metav1.Condition{Type: v1alpha.ConditionDataCurrent, Status: metav1.ConditionFalse}
	slices.SortStableFunc(w.findings, compareFindings)
	switch {
	case len(w.findings) > 0:
		var messages []string
		for i := range w.findings {
			messages = append(messages, w.findings[i].message)
		}
		result.Reason, result.Message = w.findings[0].reason, bounded(messages)
	case w.unknown:
		result.Reason, result.Message = v1alpha.ReasonResolving, "the data could not be read; the add-on tries again"
	case len(w.waits) > 0:
		taken := w.data.TakenTime.Add(time.Duration(w.data.IntervalSeconds) * time.Second).UTC().Format(time.RFC3339)
		result.Reason, result.Message = v1alpha.ReasonDataWaits, fmt.Sprintf(
			"%s changed again within %d s: the newest content rolls out from %s on", bounded(w.waits), w.data.IntervalSeconds, taken)
	case len(w.held) > 0:
		result.Reason, result.Message = v1alpha.ReasonDataHeld, fmt.Sprintf("an undo holds %s; change the object in the project, or "+
			"remove annotation %s of the Workload to roll out its content", bounded(w.held), v1alpha.AnnotationRolloutData)
	default:
		result.Status, result.Reason = metav1.ConditionTrue, v1alpha.ReasonNewestData
		result.Message = "Instances are started with the newest data of the project"
	}
	return result
}
