// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

const stuck = "1 of 2 Instances have the current template, 0 are being deleted; Instance web-1: Unschedulable: 8 Insufficient cpu"

// roll plays a cell that rolls out a new template to its two Instances, with the numbers that have it and that are
// Ready.
func (f *fixture) roll(t *testing.T, current, ready int32) {
	t.Helper()
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", f.hash, metav1.ConditionTrue))
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: 2, CurrentReplicas: current, DesiredReplicas: 2, ReadyReplicas: ready}
		*meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionProgressing) = condition(v1alpha.ConditionProgressing, "True",
			v1alpha.ReasonRollingOut, stuck)
	})
}

// expectProgress reconciles, and checks condition Progressing and the time of the last progress.
func (f *fixture) expectProgress(t *testing.T, what, reason string, last time.Time) *metav1.Condition {
	t.Helper()
	f.mustReconcile(t)
	status := f.readOriginal(t).Status
	got := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionProgressing)
	if got == nil || got.Reason != reason || (got.Status == metav1.ConditionTrue) != (reason == v1alpha.ReasonRollingOut) {
		t.Fatalf("%s: Progressing is %+v, want %s", what, got, reason)
	}
	if shown := status.LastProgressTime; (shown == nil) != last.IsZero() || shown != nil && !shown.Time.Equal(last) {
		t.Errorf("%s: the last progress was at %s, want %s", what, shown, last)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("%s: when nothing has changed, it writes %v", what, writes)
	}
	return got
}

// TestProgress: a rollout that is stuck names the city, the Instance and the obstacle, and exceeds its deadline.
func TestProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	start := f.clock.Now()
	f.roll(t, 1, 1)
	got := f.expectProgress(t, "at the start", v1alpha.ReasonRollingOut, start)
	if got.Message != f.original.Spec.CityCode+": "+stuck {
		t.Errorf("the message is %q", got.Message)
	}
	f.pass(599 * time.Second)
	f.expectProgress(t, "before the deadline", v1alpha.ReasonRollingOut, start)
	if f.requeued != time.Second {
		t.Errorf("it is reconciled again after %s", f.requeued)
	}
	f.pass(time.Second)
	got = f.expectProgress(t, "at the deadline", v1alpha.ReasonProgressDeadlineExceeded, start)
	if got.Message != f.original.Spec.CityCode+": no progress for 10m0s: "+stuck || !got.LastTransitionTime.Time.Equal(f.clock.Now()) {
		t.Errorf("at the deadline Progressing is %+v", got)
	}
	f.pass(time.Hour)
	f.expectProgress(t, "later", v1alpha.ReasonProgressDeadlineExceeded, start)

	f.roll(t, 2, 1)
	got = f.expectProgress(t, "after progress", v1alpha.ReasonRollingOut, f.clock.Now())
	if !got.LastTransitionTime.Time.Equal(f.clock.Now()) {
		t.Errorf("after progress Progressing is %+v", got)
	}
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", f.hash, metav1.ConditionTrue))
	f.expectProgress(t, "at the end", v1alpha.ReasonSettled, time.Time{})
	if f.requeued != 0 {
		t.Errorf("it is settled, and reconciled again after %s", f.requeued)
	}
}

// TestCrashLoopIsNoProgress: after each restart the Instance is Ready for a moment, but never Available.
func TestCrashLoopIsNoProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	start := f.clock.Now()
	for _, ready := range []int32{0, 1, 0, 1} {
		f.roll(t, 1, ready)
		f.expectProgress(t, "in a crash loop", v1alpha.ReasonRollingOut, start)
		f.pass(time.Minute)
	}
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Status.AvailableReplicas = 1 })
	f.expectProgress(t, "with one that is Available", v1alpha.ReasonRollingOut, f.clock.Now())
}

// TestProgressDeadline: the deadline is the Workload's.
func TestProgressDeadline(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Rollout = &v1alpha.WorkloadRollout{ProgressDeadlineSeconds: new(int32(5))}
	})
	f.roll(t, 1, 1)
	start := f.clock.Now()
	f.expectProgress(t, "at the start", v1alpha.ReasonRollingOut, start)
	if f.requeued != 5*time.Second {
		t.Errorf("it is reconciled again after %s", f.requeued)
	}
	f.pass(5 * time.Second)
	f.expectProgress(t, "at the deadline", v1alpha.ReasonProgressDeadlineExceeded, start)
}

// TestNoProgressWithoutItsCell: a change that does not reach the cells is no settled state, whatever they reported
// before.
func TestNoProgressWithoutItsCell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	f.expectProgress(t, "settled", v1alpha.ReasonSettled, time.Time{})
	f.SetReady(t, f.cell, metav1.ConditionUnknown, f.now())
	f.expectProgress(t, "settled in a lost cell", v1alpha.ReasonSettled, time.Time{})
	f.assign(t, 0, 1, 2)
	got := f.expectProgress(t, "changed in a lost cell", v1alpha.ReasonRollingOut, f.clock.Now())
	if !strings.Contains(got.Message, f.original.Spec.CityCode+": cell "+f.cell.Name+": Karmada does not reach the cell") {
		t.Errorf("the message is %q", got.Message)
	}
	start := f.clock.Now()
	f.pass(10 * time.Minute)
	f.expectProgress(t, "at the deadline", v1alpha.ReasonProgressDeadlineExceeded, start)
}

// TestTheDeadlineBeginsWithTheContact: what a cell did while nothing was heard of it is not known. A deadline that has
// passed meanwhile begins again.
func TestTheDeadlineBeginsWithTheContact(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	f.expectProgress(t, "settled", v1alpha.ReasonSettled, time.Time{})
	f.roll(t, 1, 1)
	start := f.clock.Now()
	f.expectProgress(t, "at the start", v1alpha.ReasonRollingOut, start)
	f.SetReady(t, f.cell, metav1.ConditionUnknown, f.now())
	f.pass(time.Hour)
	f.expectProgress(t, "without contact", v1alpha.ReasonProgressDeadlineExceeded, start)
	f.SetReady(t, f.cell, metav1.ConditionTrue, f.now())
	back := f.clock.Now()
	f.expectProgress(t, "with contact again", v1alpha.ReasonRollingOut, back)
	f.pass(10 * time.Minute)
	f.expectProgress(t, "at the deadline", v1alpha.ReasonProgressDeadlineExceeded, back)
}

// TestASuspendedProjectHasNoDeadline: no Instance can start there.
func TestASuspendedProjectHasNoDeadline(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.Suspended = true })
	f.roll(t, 1, 1)
	f.mustReconcile(t)
	f.pass(time.Hour)
	f.mustReconcile(t)
	if status := f.readOriginal(t).Status; status.LastProgressTime != nil {
		t.Errorf("the last progress was at %s", status.LastProgressTime)
	}
}
