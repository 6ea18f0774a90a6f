// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// loseWork plays Karmada, which deletes the Work for a cell.
func (f *fixture) loseWork(t *testing.T, cell string) {
	t.Helper()
	work := planes.WorkOf(t, f.copied, cell)
	planes.Change(t, f.Planes, work, func(w *workv1alpha1.Work) { w.Finalizers = nil })
	planes.Delete(t, f.Planes, work)
}

// TestAWorkThatIsMadeAgain: while one of two cells has no Work, and so no report, its Instances stay as they are shown,
// and become unknown when that has lasted.
func TestAWorkThatIsMadeAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second := f.serveInTwoCells(t)
	ready := func(name string) metav1.ConditionStatus {
		t.Helper()
		return meta.FindStatusCondition(f.readInstance(t, name).Status.Conditions, v1alpha.ConditionReady).Status
	}

	f.loseWork(t, second.Name)
	if f.mustReconcile(t); ready("web-0") != metav1.ConditionTrue || ready("web-1") != metav1.ConditionTrue || f.requeued != doubtAfter {
		t.Errorf("at once web-0 is %s, and web-1 %s", ready("web-0"), ready("web-1"))
	}
	if status := f.readOriginal(t).Status; status.Replicas != 2 || len(status.Indices) != 2 {
		t.Errorf("at once the status is %+v", status)
	}
	f.pass(doubtAfter)
	if f.mustReconcile(t); ready("web-0") != metav1.ConditionTrue || ready("web-1") != metav1.ConditionUnknown {
		t.Errorf("later web-0 is %s, and web-1 %s", ready("web-0"), ready("web-1"))
	}
	if status := f.readOriginal(t).Status; status.Replicas != 2 || status.ReadyReplicas != 1 {
		t.Errorf("later the status is %+v", status)
	}
	f.serve(t)
	if f.mustReconcile(t); ready("web-1") != metav1.ConditionTrue || f.readOriginal(t).Status.ReadyReplicas != 2 {
		t.Errorf("when the cell reports again web-1 is %s", ready("web-1"))
	}
}

// TestKarmadaFindsNoCell: Karmada has removed the deployment from its only cell, so that nothing of it runs.
func TestKarmadaFindsNoCell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	f.mustReconcile(t)
	binding := planes.BindingOf(f.copied)
	planes.Change(t, f.Planes, binding, func(b *workv1alpha2.ResourceBinding) { b.Spec.Clusters = nil })
	planes.ChangeStatus(t, f.Planes, binding, func(b *workv1alpha2.ResourceBinding) {
		b.Status.Conditions = []metav1.Condition{
			condition(workv1alpha2.Scheduled, metav1.ConditionFalse, "NoClusterFit", "0/1 clusters are available"),
		}
	})
	if f.mustReconcile(t); !f.exists(t, "web-0") {
		t.Fatal("an Instance of a cell that still has a Work is shown no more")
	}
	f.loseWork(t, f.cell.Name)
	f.mustReconcile(t)
	if status := f.readOriginal(t).Status; f.exists(t, "web-0") || f.exists(t, "web-1") || status.Replicas != 0 {
		t.Errorf("Instances are shown that run nowhere: %+v", status)
	}
}

// TestAWorkOfACellThatLeaves: the Instances of a cell that has none of its own any more are not shown once Karmada has
// deleted its Work, although their Pods may still end.
func TestAWorkOfACellThatLeaves(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second := f.serveInTwoCells(t)
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		leaving := &d.Spec.Assignment.Cells[1]
		leaving.Indices, leaving.Releasing, leaving.LeavingSince = nil, leaving.Indices, new(metav1.NowMicro())
	})
	f.loseWork(t, second.Name)
	f.mustReconcile(t)
	if status := f.readOriginal(t).Status; !f.exists(t, "web-0") || f.exists(t, "web-1") || status.Replicas != 1 {
		t.Errorf("not exactly the Instance of the other cell is shown: %+v", status)
	}
}
