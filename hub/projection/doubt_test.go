// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// serve plays a cell with two Instances that are Ready and Available, and projects them.
func (f *fixture) serve(t *testing.T) {
	t.Helper()
	var instances []wire.Instance
	for _, name := range []string{"web-0", "web-1"} {
		reported := instance(name, f.hash, metav1.ConditionTrue)
		reported.Conditions = append(reported.Conditions,
			condition(v1alpha.ConditionAvailable, metav1.ConditionTrue, v1alpha.ReasonAvailable, ""))
		instances = append(instances, reported)
	}
	f.report(t, instances...)
	f.mustReconcile(t)
}

func (f *fixture) pass(d time.Duration) { f.clock.SetTime(f.clock.Now().Add(d)) }

// now returns the time of the test, in the precision of objects.
func (f *fixture) now() metav1.Time { return metav1.NewTime(f.clock.Now()) }

// expectDoubt checks that the state of both Instances is unknown for this reason.
func (f *fixture) expectDoubt(t *testing.T, reason, cell string, since time.Time) {
	t.Helper()
	for _, name := range []string{"web-0", "web-1"} {
		for _, kind := range []string{v1alpha.ConditionReady, v1alpha.ConditionAvailable} {
			got := meta.FindStatusCondition(f.readInstance(t, name).Status.Conditions, kind)
			if got == nil || got.Status != metav1.ConditionUnknown || got.Reason != reason || !got.LastTransitionTime.Time.Equal(since) ||
				!strings.Contains(got.Message, "unknown since "+since.UTC().Format(time.RFC3339)) || !strings.Contains(got.Message, cell) {
				t.Errorf("%s of %s is %+v, want %s since %s", kind, name, got, reason, since)
			}
		}
	}
	status := f.readOriginal(t).Status
	for kind, want := range map[string]metav1.ConditionStatus{
		v1alpha.ConditionAvailable: metav1.ConditionUnknown, v1alpha.ConditionReplicasReady: metav1.ConditionUnknown,
		v1alpha.ConditionStatusCurrent: metav1.ConditionFalse,
	} {
		if got := meta.FindStatusCondition(status.Conditions, kind); got == nil || got.Status != want || got.Reason != reason {
			t.Errorf("%s of the deployment is %+v, want %s", kind, got, want)
		}
	}
	if status.ReadyReplicas != 0 || status.Replicas != 2 {
		t.Errorf("the counts are %+v", status.ReplicaCounts)
	}
}

func (f *fixture) expectCurrent(t *testing.T, before *v1alpha.Instance) {
	t.Helper()
	status := f.readOriginal(t).Status
	if got := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionStatusCurrent); got == nil ||
		got.Status != metav1.ConditionTrue || got.Reason != v1alpha.ReasonReported {
		t.Errorf("StatusCurrent is %+v", got)
	}
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionAvailable) || status.ReadyReplicas != 2 {
		t.Errorf("the status is %+v", status)
	}
	if got := f.readInstance(t, before.Name); !equality.Semantic.DeepEqual(got.Status, before.Status) {
		t.Errorf("the Instance was %+v and is %+v", before.Status, got.Status)
	}
}

// TestDoubt: when the path from the cell breaks, the state of its Instances becomes unknown, after the bound or at
// once, and everything is restored when the path is repaired.
func TestDoubt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		interrupt  func(*testing.T, *fixture)
		wantReason string
		wantAtOnce bool
		wantNoCell bool
	}{
		"the cell is lost": {
			interrupt:  func(t *testing.T, f *fixture) { t.Helper(); f.SetReady(t, f.cell, metav1.ConditionFalse, f.now()) },
			wantReason: v1alpha.ReasonCellNotReady, wantAtOnce: true,
		},
		"its agent is down": {
			interrupt: func(t *testing.T, f *fixture) {
				t.Helper()
				planes.ChangeStatus(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) {
					c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
						Type: v1alpha.ConditionComputeAgentReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonAgentNotReady,
						Message: "down", LastTransitionTime: f.now(),
					})
				})
			}, wantReason: v1alpha.ReasonAgentNotReady,
		},
		"no binding": {
			interrupt:  func(t *testing.T, f *fixture) { t.Helper(); planes.Delete(t, f.Planes, planes.BindingOf(f.copied)) },
			wantReason: v1alpha.ReasonNotBound, wantNoCell: true,
		},
		"the binding of an earlier copy": {
			interrupt: func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, planes.BindingOf(f.copied), func(b *workv1alpha2.ResourceBinding) { b.OwnerReferences[0].UID = "earlier" })
			}, wantReason: v1alpha.ReasonNotBound, wantNoCell: true,
		},
		"no Work": {
			interrupt: func(t *testing.T, f *fixture) {
				t.Helper()
				work := planes.WorkOf(t, f.copied, f.cell.Name)
				planes.Change(t, f.Planes, work, func(w *workv1alpha1.Work) { w.Finalizers = nil })
				planes.Delete(t, f.Planes, work)
			}, wantReason: v1alpha.ReasonNotApplied,
		},
		"a Work that is not applied": {
			interrupt: func(t *testing.T, f *fixture) {
				t.Helper()
				planes.ChangeStatus(t, f.Planes, planes.WorkOf(t, f.copied, f.cell.Name), func(w *workv1alpha1.Work) {
					w.Status.Conditions[0].Status, w.Status.Conditions[0].LastTransitionTime = metav1.ConditionFalse, f.now()
				})
			}, wantReason: v1alpha.ReasonNotApplied,
		},
		"a Work that lost its report": {
			interrupt: func(t *testing.T, f *fixture) {
				t.Helper()
				planes.ChangeStatus(t, f.Planes, planes.WorkOf(t, f.copied, f.cell.Name), func(w *workv1alpha1.Work) {
					w.Status.ManifestStatuses = nil
				})
			}, wantReason: v1alpha.ReasonNoReport,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			// Karmada's times come from the API server, and the test's clock must not be behind.
			f.clock.SetTime(time.Now().Add(time.Hour).Truncate(time.Second))
			f.serve(t)
			before, began := f.readInstance(t, "web-0"), f.clock.Now()
			f.expectCurrent(t, before)
			test.interrupt(t, f)
			if !test.wantAtOnce {
				if writes := f.mustReconcile(t); len(writes) > 0 || f.requeued != doubtAfter {
					t.Errorf("at once it writes %v, and is requeued after %s", writes, f.requeued)
				}
				f.pass(doubtAfter)
			}
			f.mustReconcile(t)
			cell := "cell " + f.cell.Name
			if test.wantNoCell {
				cell = ""
			}
			f.expectDoubt(t, test.wantReason, cell, began)
			f.pass(time.Minute)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("a minute later it writes %v", writes)
			}
			// Another replica reports the same, at once.
			f.reconciler = New(f.reconciler.Options)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("another replica writes %v", writes)
			}
			f.SetReady(t, planes.Get(t, f.Planes, "", f.cell.Name, f.cell), metav1.ConditionTrue, f.now())
			f.deliver(t, &f.copied.Status)
			f.mustReconcile(t)
			f.expectCurrent(t, before)
		})
	}
}

// serveInTwoCells assigns one Instance to another cell, which it returns. Both run.
func (f *fixture) serveInTwoCells(t *testing.T) *clusterv1alpha1.Cluster {
	t.Helper()
	second := f.Cell(t, f.city)
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment.Cells = []v1alpha.CellAssignment{
			{Name: f.cell.Name, Indices: naming.Ranges([]int{0})}, {Name: second.Name, Indices: naming.Ranges([]int{1})},
		}
	})
	f.serve(t)
	return second
}

// TestDoubtOfOneCell: the reports of other cells are not affected.
func TestDoubtOfOneCell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second := f.serveInTwoCells(t)
	f.SetReady(t, second, metav1.ConditionUnknown, f.now())
	f.mustReconcile(t)
	for name, want := range map[string]metav1.ConditionStatus{"web-0": metav1.ConditionTrue, "web-1": metav1.ConditionUnknown} {
		if got := meta.FindStatusCondition(f.readInstance(t, name).Status.Conditions, v1alpha.ConditionReady); got.Status != want {
			t.Errorf("Ready of %s is %+v", name, got)
		}
	}
	status := f.readOriginal(t).Status
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionAvailable) || status.ReadyReplicas != 1 || status.Replicas != 2 {
		t.Errorf("the status is %+v", status)
	}
	for _, kind := range []string{v1alpha.ConditionStatusCurrent, v1alpha.ConditionReplicasReady} {
		got := meta.FindStatusCondition(status.Conditions, kind)
		if got.Status == metav1.ConditionTrue || got.Reason != v1alpha.ReasonCellNotReady || !strings.Contains(got.Message, second.Name) {
			t.Errorf("%s is %+v", kind, got)
		}
	}
}

// TestNothingIsAssigned: if no cell has an Instance to report, no fault is shown.
func TestNothingIsAssigned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status = v1alpha.WorkloadDeploymentStatus{ObservedGeneration: d.Status.ObservedGeneration}
	})
	f.mustReconcile(t)
	if f.exists(t, "web-0") || f.exists(t, "web-1") {
		t.Error("what no cell reports is shown")
	}
}

// TestBeforeTheFirstReport: no state is shown yet that a fault could invalidate.
func TestBeforeTheFirstReport(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t)
	got := meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionStatusCurrent)
	if got == nil || got.Status != metav1.ConditionUnknown || got.Reason != v1alpha.ReasonAwaitingReport {
		t.Errorf("StatusCurrent is %+v", got)
	}
	f.pass(doubtAfter)
	f.mustReconcile(t)
	got = meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionStatusCurrent)
	if got == nil || got.Status != metav1.ConditionFalse || got.Reason != v1alpha.ReasonNoReport {
		t.Errorf("after the bound StatusCurrent is %+v", got)
	}
}

// TestAnUpdateIsNoDoubt: StatusCurrent is about the reported generation, until the next one is reported.
func TestAnUpdateIsNoDoubt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	f.assign(t, 0, 1, 2)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("it writes %v", writes)
	}
	f.pass(doubtAfter)
	f.mustReconcile(t)
	f.expectDoubt(t, v1alpha.ReasonReportOutdated, "cell "+f.cell.Name, f.clock.Now().Add(-doubtAfter))
}

// TestKarmadaIsDown: no status from the hub is current, and a replica that starts meanwhile agrees.
func TestKarmadaIsDown(t *testing.T) {
	f := newFixture(t)
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = path.KarmadaLease.Namespace, path.KarmadaLease.Name
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("karmada-controller-manager-7d9_5d1c"), new(metav1.NowMicro())
	planes.Ensure(t, f.Planes, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: lease.Namespace}}, func(*corev1.Namespace) {})
	planes.Create(t, f.Planes, lease)
	f.reconciler.Karmada.Poll(t.Context())
	f.serve(t)
	before, began := f.readInstance(t, "web-0"), f.clock.Now()
	f.pass(30 * time.Second)
	f.reconciler.Karmada.Poll(t.Context())
	f.mustReconcile(t)
	f.expectDoubt(t, v1alpha.ReasonKarmadaNotRunning, "", began)
	again := f.reconciler.Options
	again.Karmada = path.NewKarmadaWatch(f.HubAPI, f.clock)
	f.reconciler = New(again)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("a replica that knows nothing yet writes %v", writes)
	}
	f.reconciler.Karmada.Poll(t.Context())
	planes.Change(t, f.Planes, lease, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("standby") })
	f.reconciler.Karmada.Poll(t.Context())
	f.mustReconcile(t)
	f.expectCurrent(t, before)
}

// TestOverridesAreNamed: the project shows which policies of the operator change what the cells get.
func TestOverridesAreNamed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	message := func() string {
		f.mustReconcile(t)
		return meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionStatusCurrent).Message
	}
	if got := message(); got != "" {
		t.Errorf("without a policy it says %q", got)
	}
	work := &workv1alpha1.Work{}
	work = planes.Get(t, f.Planes, karmadanames.GenerateExecutionSpaceName(f.cell.Name),
		karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, f.copied.Name, f.copied.Namespace), work)
	planes.Change(t, f.Planes, work, func(w *workv1alpha1.Work) {
		w.Annotations[util.AppliedClusterOverrides] = `[{"policyName":"mirror","overriders":{}}]`
	})
	if got, want := message(), "override policies of the operator change the deployment: for cell "+f.cell.Name+" by mirror"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
