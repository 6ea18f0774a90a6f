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
func (s *scope) rollsData(d *v1alpha.WorkloadDeployment) bool {
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
	c := choice{workload: w, before: w.Status.Data, holds: templates.ParseHolds(w.Annotations[v1alpha.AnnotationRolloutData])}
	var failed []error
	for _, object := range slices.SortedFunc(maps.Keys(w.rolling), templates.DataObject.Compare) {
		now, err := s.newest(ctx, object)
		if err != nil {
			w.unknown = true
			failed = append(failed, fmt.Errorf("read %s %s in namespace %s of the project: %w",
				object.Kind, object.Name, s.namespace, withoutContent(err)))
		} else if now.version != "" {
			newest[object] = now
		}
		c.add(object, &now, s.hasSnapshot)
	}
	if wait := c.settle(s.Clock.Now()); wait > 0 {
		s.requeueAfter.AtMost(wait)
	}
	return errors.Join(failed...)
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
		if w.findings = append(w.findings, found...); len(found) == 0 {
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
	slices.SortStableFunc(w.findings, func(a, b finding) int {
		return slices.Index(reasons, a.reason) - slices.Index(reasons, b.reason)
	})
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

// choice is the choice of the data of one Workload.
type choice struct {
	*workload
	before *v1alpha.WorkloadDataStatus
	holds  map[templates.DataObject]templates.Hold
	chosen []v1alpha.DataVersion
	// changed are the objects whose newest content differs from the recorded one, with the recorded one, by their index in
	// chosen.
	changed map[int]v1alpha.DataVersion
	bytes   int
}

// add chooses the content of one object. An object without a usable content keeps the recorded one.
func (c *choice) add(object templates.DataObject, now *contentHash, hasSnapshot func(v1alpha.DataVersion) bool) {
	recorded, isRecorded := c.recorded(object)
	version := v1alpha.DataVersion{Kind: object.Kind, Name: object.Name, Hash: now.hash}
	usable := now.hash != ""
	switch {
	case now.reason == v1alpha.ReasonSourceNotFound && c.rolling[object]:
		version.Hash, usable = templates.AbsentData, true
	case now.reason != "":
		c.findings, usable = append(c.findings, now.finding), false
	}
	if !usable {
		if isRecorded && (recorded.Hash != templates.AbsentData || c.rolling[object]) {
			c.chosen = append(c.chosen, recorded)
		}
		return
	}
	if hold, holds := c.holds[object]; holds && hold.Newest == version.Hash && hold.Held != version.Hash {
		version = c.hold(version, hold.Held, hasSnapshot)
	} else if isRecorded && recorded.Hash != version.Hash {
		if c.changed == nil {
			c.changed = map[int]v1alpha.DataVersion{}
		}
		c.changed[len(c.chosen)] = recorded
	}
	c.chosen, c.bytes = append(c.chosen, version), c.bytes+now.bytes
}

// hold returns the content that an undo has chosen instead of the newest one, unless it is not kept any more: then the
// recorded one stays.
func (c *choice) hold(newest v1alpha.DataVersion, held string, hasSnapshot func(v1alpha.DataVersion) bool) v1alpha.DataVersion {
	object := templates.DataObject{Kind: newest.Kind, Name: newest.Name}
	version := newest
	version.Hash = held
	recorded, isRecorded := c.recorded(object)
	absent := held == templates.AbsentData && c.rolling[object]
	if absent || recorded == version || hasSnapshot(version) {
		c.held = append(c.held, fmt.Sprintf("%s %s at %s, and the content in the project is %s", object.Kind, object.Name, held, newest.Hash))
		return version
	}
	c.findings = append(c.findings, finding{reason: v1alpha.ReasonSnapshotGone, message: fmt.Sprintf(
		"content %s of %s %s is no longer kept, and nothing was changed; write the content into the %s, or roll back to another revision",
		held, object.Kind, object.Name, object.Kind)})
	if isRecorded {
		return recorded
	}
	return newest
}

func (c *choice) recorded(object templates.DataObject) (v1alpha.DataVersion, bool) {
	if c.before == nil {
		return v1alpha.DataVersion{}, false
	}
	at := slices.IndexFunc(c.before.Objects, func(v v1alpha.DataVersion) bool { return v.Kind == object.Kind && v.Name == object.Name })
	if at < 0 {
		return v1alpha.DataVersion{}, false
	}
	return c.before.Objects[at], true
}

const (
	// firstInterval is how long after a change of data the next one is taken, in seconds, and lastInterval the longest such
	// time: an object that changes all the time must not restart a rollout all the time.
	firstInterval, lastInterval = 30, 3600
)

// settle sets the data of the Workload, and returns after what time a newer content may be taken; 0: none waits.
func (c *choice) settle(now time.Time) time.Duration {
	c.data = &v1alpha.WorkloadDataStatus{Objects: c.chosen}
	if c.before != nil {
		c.data.TakenTime, c.data.IntervalSeconds = c.before.TakenTime, c.before.IntervalSeconds
	}
	if c.bytes > maxTogether {
		c.keep()
		c.findings = append(c.findings, finding{reason: v1alpha.ReasonSourceTooLarge, message: fmt.Sprintf(
			"the objects that roll out with the Workload hold %d bytes together and at most %d are copied to cells; make them smaller or name fewer",
			c.bytes, maxTogether)})
		return 0
	}
	if len(c.changed) == 0 {
		return 0
	}
	if c.data.TakenTime != nil {
		if wait := c.data.TakenTime.Add(time.Duration(c.data.IntervalSeconds) * time.Second).Sub(now); wait > 0 {
			c.keep()
			return wait
		}
	}
	c.data.IntervalSeconds = c.interval()
	c.data.TakenTime = &metav1.Time{Time: now.Truncate(time.Second)}
	return 0
}

// keep leaves the changed objects at their recorded content.
func (c *choice) keep() {
	for _, at := range slices.Sorted(maps.Keys(c.changed)) {
		c.waits = append(c.waits, c.chosen[at].Kind+" "+c.chosen[at].Name)
		c.chosen[at] = c.changed[at]
	}
}

// interval returns how long the next change waits: a change that interrupts a rollout doubles it.
func (c *choice) interval() int32 {
	r := c.Status.Rollout
	interrupts := c.before.TakenTime != nil && r != nil &&
		slices.Contains([]v1alpha.RolloutPhase{v1alpha.RolloutProgressing, v1alpha.RolloutPaused, v1alpha.RolloutUndoing}, r.Phase)
	if !interrupts {
		return firstInterval
	}
	return min(max(c.before.IntervalSeconds, firstInterval)*2, lastInterval) //nolint:mnd // It doubles.
}
