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
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// expectUnheard checks that the state of both Instances has been unknown since a time, and that the counts agree.
func (f *fixture) expectUnheard(t *testing.T, since time.Time) {
	t.Helper()
	for _, name := range []string{"web-0", "web-1"} {
		for _, kind := range []string{v1alpha.ConditionReady, v1alpha.ConditionAvailable} {
			got := meta.FindStatusCondition(f.readInstance(t, name).Status.Conditions, kind)
			if got == nil || got.Status != metav1.ConditionUnknown || got.Reason != v1alpha.ReasonAwaitingReport ||
				!got.LastTransitionTime.Time.Equal(since) || !strings.Contains(got.Message, f.city) {
				t.Errorf("%s of %s is %+v", kind, name, got)
			}
		}
	}
	status := f.readOriginal(t).Status
	available := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable)
	if status.ReadyReplicas != 0 || available == nil || available.Status == metav1.ConditionTrue {
		t.Errorf("the status is %+v", status)
	}
	current := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionStatusCurrent)
	if current == nil || current.Status != metav1.ConditionUnknown || current.Reason != v1alpha.ReasonAwaitingReport {
		t.Errorf("StatusCurrent is %+v", current)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
}

// TestTheCopyIsGone: as soon as the hub's copy is gone, the state of the Instances is unknown, in their conditions and
// in the counts, until the cells report on the next copy.
func TestTheCopyIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	gone := f.clock.Now()
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{"example.com/theirs"} })
	planes.Delete(t, f.Planes, f.copied)
	f.mustReconcile(t)
	f.expectUnheard(t, gone)

	f.pass(time.Second)
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = nil })
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when the copy has ended, it writes %v", writes)
	}
	f.expectUnheard(t, gone)

	f.pass(time.Second)
	f.copied = planes.Create(t, f.Planes, f.newCopy())
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when there is another copy, it writes %v", writes)
	}
	f.expectUnheard(t, gone)
	f.pass(doubtAfter)
	f.mustReconcile(t)
	if got := meta.FindStatusCondition(f.readInstance(t, "web-0").Status.Conditions,
		v1alpha.ConditionReady); got.Reason != v1alpha.ReasonNotBound {
		t.Errorf("when Karmada does not take the copy, Ready is %+v", got)
	}
	f.report(t, instance("web-1", f.hash, metav1.ConditionTrue))
	f.mustReconcile(t)
	if f.exists(t, "web-0") || !meta.IsStatusConditionTrue(f.readInstance(t, "web-1").Status.Conditions, v1alpha.ConditionReady) {
		t.Error("not exactly what the cell reports is shown")
	}
}

// TestTheCopyOfASuspendedProjectIsGone: the deletion of the copy does not end the suspension.
func TestTheCopyOfASuspendedProjectIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.Suspended = true })
	f.mustReconcile(t)
	planes.Delete(t, f.Planes, f.copied)
	f.mustReconcile(t)
	got := meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionAvailable)
	if got == nil || got.Reason != v1alpha.ReasonProjectSuspended {
		t.Errorf("Available is %+v", got)
	}
}

// TestOrphanedInstances: Instances that have lost their owner reference are deleted with their deployment, which the
// garbage collector cannot do.
func TestOrphanedInstances(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"while the deployment is being deleted": false, "when it is gone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.serve(t)
			planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{v1alpha.FinalizerPropagation} })
			planes.Delete(t, f.Planes, f.original)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("what the garbage collector deletes is written: %v", writes)
			}
			planes.Change(t, f.Planes, f.readInstance(t, "web-0"), func(i *v1alpha.Instance) { i.OwnerReferences = nil })
			orphan := f.readInstance(t, "web-0")
			if got := requestsForInstance(planes.ProjectName, orphan, false); len(got) != 1 || got[0] != f.request() {
				t.Errorf("the Instance requeues %v", got)
			}
			if gone {
				planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = nil })
			}
			f.mustReconcile(t)
			if f.exists(t, "web-0") || !f.exists(t, "web-1") {
				t.Error("not exactly the Instance without an owner is deleted")
			}
		})
	}
}

// TestRestoredInstances: Instances of an earlier deployment that a restore has created again, without an owner, are not
// shown beside the Instances of the present one.
func TestRestoredInstances(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sliced(t, 20)
	restored := func(indices ...int) {
		for _, index := range indices {
			instance := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{
				Namespace: f.Namespace.Name, Name: naming.InstanceName("web", index),
				Labels: map[string]string{v1alpha.LabelDeploymentName: "web", v1alpha.LabelDeploymentUID: "of-an-earlier-one"},
			}, Spec: planes.Template("registry.example/app:1").Spec}
			planes.Create(t, f.Planes, instance)
			if got := requestsForInstance(planes.ProjectName, instance, false); len(got) != 1 || got[0] != f.request() {
				t.Errorf("the Instance requeues %v", got)
			}
		}
	}
	restored(0, 7, 16, 30)
	f.report(t, f.instances(t, 0, 1)...)
	f.mustReconcile(t)
	f.reportSlice(t, 0, 1, f.instances(t, 16, 17)...)
	f.mustReconcileSlice(t, 0)
	present := func(when string) {
		t.Helper()
		for name, want := range map[string]bool{"web-0": true, "web-1": true, "web-7": false, "web-16": true, "web-17": true, "web-30": false} {
			if exists := f.exists(t, name); exists != want {
				t.Errorf("%s: %s exists: %t", when, name, exists)
			}
			if want && f.readInstance(t, name).Labels[v1alpha.LabelDeploymentUID] != string(f.original.UID) {
				t.Errorf("%s: %s is still of the earlier deployment", when, name)
			}
		}
	}
	present("restored first")

	restored(7, 30)
	f.mustReconcile(t)
	f.mustReconcileSlice(t, 0)
	present("restored last")
}

// TestTheCopyOfSlicesIsGone: the state of the Instances in slices is unknown, too.
func TestTheCopyOfSlicesIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sliced(t, 20)
	f.report(t, f.instances(t, 0, 1)...)
	f.mustReconcile(t)
	f.reportSlice(t, 0, 1, f.instances(t, 16, 17)...)
	f.mustReconcileSlice(t, 0)
	planes.Delete(t, f.Planes, f.copied)
	f.mustReconcile(t)
	f.mustReconcileSlice(t, 0)
	got := meta.FindStatusCondition(f.readInstance(t, "web-16").Status.Conditions, v1alpha.ConditionReady)
	if got == nil || got.Status != metav1.ConditionUnknown || got.Reason != v1alpha.ReasonAwaitingReport {
		t.Errorf("Ready is %+v", got)
	}
	_, again := f.mustReconcileSlice(t, 0)
	if writes := f.mustReconcile(t); len(writes)+len(again) > 0 {
		t.Errorf("when nothing has changed, it writes %v and %v", writes, again)
	}
}
