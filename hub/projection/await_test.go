// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"strings"
	"testing"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// leaveNamespace leaves a namespace of an earlier deployment in the cell, which Karmada is still deleting.
func (f *fixture) leaveNamespace(t *testing.T) {
	t.Helper()
	work := planes.Create(t, f.Planes, &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(f.cell.Name), Name: karmadanames.GenerateWorkName("Namespace", f.HubNamespace, ""),
		Finalizers: []string{"example.com/held"},
	}})
	planes.Delete(t, f.Planes, work)
}

// expectBlocked checks that every condition has the reason why the hub has no copy.
func (f *fixture) expectBlocked(t *testing.T, reason, message string) {
	t.Helper()
	original := f.readOriginal(t)
	for kind, want := range map[string]string{
		v1alpha.ConditionAvailable: reason, v1alpha.ConditionStatusCurrent: reason, v1alpha.ConditionProgressing: v1alpha.ReasonRollingOut,
	} {
		got := meta.FindStatusCondition(original.Status.Conditions, kind)
		if got == nil || got.Reason != want || !strings.Contains(got.Message, message) ||
			(got.Status == metav1.ConditionTrue) != (kind == v1alpha.ConditionProgressing) {
			t.Errorf("%s is %+v, want %s: %s", kind, got, want, message)
		}
	}
	if original.Status.DesiredReplicas != 2 {
		t.Errorf("the status is %+v", original.Status)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
	if f.requeued != doubtAfter {
		t.Errorf("it is reconciled again after %s", f.requeued)
	}
}

// TestACellThatBlocksTheCopy: a deployment that waits for an unreachable cell reports it at once.
func TestACellThatBlocksTheCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Delete(t, f.Planes, f.copied)
	f.leaveNamespace(t)
	f.SetReady(t, f.cell, metav1.ConditionUnknown, f.now())
	f.mustReconcile(t)
	f.expectBlocked(t, v1alpha.ReasonCellNotReady, "cell "+f.cell.Name+
		": Karmada does not reach the cell, which must delete namespace "+f.HubNamespace)
}

// TestADeletionThatBlocksTheCopy: leftovers of an earlier deployment are named when their deletion takes long.
func TestADeletionThatBlocksTheCopy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leave func(*testing.T, *fixture)
		want  string
	}{
		"in a cell": {
			func(t *testing.T, f *fixture) { t.Helper(); planes.Delete(t, f.Planes, f.copied); f.leaveNamespace(t) },
			": the cell is still deleting namespace ns-",
		},
		"of the namespace": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Delete(t, f.Planes, f.copied)
				planes.Delete(t, f.Planes, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.HubNamespace}})
			},
			"of an earlier deployment is still being deleted on the hub",
		},
		"of the copy": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
					d.Labels[v1alpha.LabelDeploymentUID], d.Finalizers = "earlier", []string{"example.com/held"}
				})
				planes.Delete(t, f.Planes, f.copied)
			},
			"/web of an earlier deployment is still being deleted on the hub",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			test.leave(t, f)
			// The API server sets the deletion timestamp.
			f.clock.SetTime(time.Now().Add(doubtAfter + 2*time.Second))
			f.mustReconcile(t)
			f.expectBlocked(t, v1alpha.ReasonNotPropagated, test.want)
		})
	}
}

// TestNoCopy: a missing copy is normal for a moment, and costs no write.
func TestNoCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Delete(t, f.Planes, f.copied)
	if writes := f.mustReconcile(t); len(writes) > 0 || f.requeued != doubtAfter {
		t.Errorf("it writes %v, and is reconciled again after %s", writes, f.requeued)
	}
	f.pass(doubtAfter)
	f.mustReconcile(t)
	f.expectBlocked(t, v1alpha.ReasonNotPropagated, "the hub has no copy of the deployment")

	f.copied = planes.Create(t, f.Planes, f.newCopy())
	f.report(t, instance("web-0", f.hash, "True"), instance("web-1", f.hash, "True"))
	f.mustReconcile(t)
	if got := meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionAvailable); got.Status != metav1.ConditionTrue {
		t.Errorf("with a copy Available is %+v", got)
	}
}

// TestNoReportFromALostCell: before the first report, Available has the reason as well.
func TestNoReportFromALostCell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.SetReady(t, f.cell, metav1.ConditionUnknown, f.now())
	f.mustReconcile(t)
	got := meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionAvailable)
	if got == nil || got.Reason != v1alpha.ReasonCellNotReady || !strings.Contains(got.Message, f.cell.Name) {
		t.Errorf("Available is %+v", got)
	}
}
