// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"strings"
	"testing"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// refuse plays Karmada's scheduler, which finds no cell with capacity.
func (f *fixture) refuse(t *testing.T, why string) {
	t.Helper()
	binding := planes.BindingOf(f.copied)
	planes.ChangeStatus(t, f.Planes, binding, func(b *workv1alpha2.ResourceBinding) {
		b.Status.Conditions = []metav1.Condition{condition(workv1alpha2.Scheduled, metav1.ConditionFalse, "Unschedulable", why)}
	})
}

func (f *fixture) assign(t *testing.T, indices ...int) {
	t.Helper()
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment.Cells[0].Indices = naming.Ranges(indices) })
}

func TestStatus(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// set prepares the objects on the hub.
		set           func(*testing.T, *fixture)
		city          string
		wantReason    string
		wantAvailable string
		wantReady     string
		// wantUnscheduled is the reason of condition Scheduled; "": it is absent.
		wantUnscheduled string
		wantMissing     bool
		wantProgresses  bool
		wantObserved    bool
		wantDesired     int32
	}{
		"the cells report": {
			set: func(t *testing.T, f *fixture) {
				t.Helper()
				f.report(t, instance("web-0", f.hash, "True"), instance("web-1", f.hash, "True"))
			},
			wantReason: v1alpha.ReasonStableInstanceFound, wantAvailable: "2 of 2", wantObserved: true, wantDesired: 2,
		},
		"nothing is reported": {
			set:        func(*testing.T, *fixture) {},
			wantReason: v1alpha.ReasonInstancesProvisioning, wantAvailable: "to report", wantProgresses: true, wantDesired: 2,
		},
		"the city has no cell": {
			set: func(*testing.T, *fixture) {}, city: "NONE",
			wantReason: v1alpha.ReasonNoMatchingLocation, wantAvailable: "no cell serves NONE", wantProgresses: true, wantDesired: 2,
		},
		"the city has no cell any more": {
			set: func(t *testing.T, f *fixture) {
				t.Helper()
				f.report(t, instance("web-0", f.hash, "False"))
				planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Status.ReadyReplicas = 0 })
			}, city: "NONE",
			wantReason: v1alpha.ReasonNoMatchingLocation, wantAvailable: "no cell serves NONE", wantProgresses: true, wantDesired: 2,
			wantObserved: true,
		},
		"no cell has room": {
			set:        func(t *testing.T, f *fixture) { t.Helper(); f.refuse(t, "0/2 clusters are available.") },
			wantReason: v1alpha.ReasonNoCapacity, wantUnscheduled: v1alpha.ReasonNoCapacity,
			wantAvailable: "not have enough capacity: 0/2 clusters are available; ask", wantProgresses: true, wantDesired: 2,
		},
		"not all is assigned": {
			set: func(t *testing.T, f *fixture) {
				t.Helper()
				f.assign(t, 0)
				f.report(t, instance("web-0", f.hash, "True"))
			},
			wantReason: v1alpha.ReasonStableInstanceFound, wantAvailable: "2 of 2", wantProgresses: true, wantMissing: true,
			wantReady: "1 Instance is not assigned", wantObserved: true, wantDesired: 2,
		},
		"there is room for one": {
			set: func(t *testing.T, f *fixture) {
				t.Helper()
				f.assign(t, 0)
				f.refuse(t, "0/2 clusters are available.")
				f.report(t, instance("web-0", f.hash, "True"))
			},
			wantReason: v1alpha.ReasonStableInstanceFound, wantAvailable: "2 of 2", wantProgresses: true, wantMissing: true,
			wantUnscheduled: v1alpha.ReasonNoCapacity,
			wantReady:       "not have enough capacity: 0/2 clusters are available; ask", wantObserved: true, wantDesired: 2,
		},
		"the cells have not seen the newest copy": {
			set: func(t *testing.T, f *fixture) {
				t.Helper()
				f.report(t, instance("web-0", f.hash, "True"), instance("web-1", f.hash, "True"))
				f.assign(t, 0, 1, 2)
			},
			wantReason: v1alpha.ReasonStableInstanceFound, wantAvailable: "2 of 2", wantDesired: 2,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if test.city != "" {
				f.moveTo(t, test.city)
			}
			test.set(t, f)
			f.mustReconcile(t)
			original := f.readOriginal(t)
			status := original.Status
			available := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable)
			if available == nil || available.Reason != test.wantReason || !strings.Contains(available.Message, test.wantAvailable) {
				t.Errorf("Available is %+v", available)
			}
			if got := meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionProgressing); got != test.wantProgresses {
				t.Errorf("it progresses: %t", got)
			}
			ready := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionReplicasReady)
			if test.wantMissing && (ready.Status != metav1.ConditionFalse || !strings.Contains(ready.Message, test.wantReady)) {
				t.Errorf("ReplicasReady is %+v", ready)
			}
			wantUnscheduled(t, &status, test.wantUnscheduled)
			if (status.ObservedGeneration == original.Generation) != test.wantObserved ||
				status.DesiredReplicas != test.wantDesired || len(status.Reports) > 0 {
				t.Errorf("the status is %+v", status)
			}
			f.clock.SetTime(f.clock.Now().Add(time.Second))
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("when nothing has changed, it writes %v", writes)
			}
		})
	}
}

// wantUnscheduled checks condition Scheduled of a deployment that Karmada has refused since 1000; "": it has none.
func wantUnscheduled(t *testing.T, status *v1alpha.WorkloadDeploymentStatus, reason string) {
	t.Helper()
	got := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionScheduled)
	if (got != nil) != (reason != "") || got != nil && (got.Reason != reason || got.Status != metav1.ConditionFalse ||
		got.LastTransitionTime.Unix() != 1000) {
		t.Errorf("Scheduled is %+v, want reason %q since 1000", got, reason)
	}
}

// TestScheduledAgain: the condition is removed when Karmada has found a cell, before the cell reports.
func TestScheduledAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.refuse(t, "0/1 clusters: 1 cluster(s) had untolerated taint {unschedulable: }.")
	f.mustReconcile(t)
	scheduled := func() *metav1.Condition {
		return meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionScheduled)
	}
	if got := scheduled(); got == nil || got.Reason != v1alpha.ReasonCellsTainted {
		t.Errorf("with a cordoned cell it is %+v", got)
	}
	planes.ChangeStatus(t, f.Planes, planes.BindingOf(f.copied), func(b *workv1alpha2.ResourceBinding) {
		b.Status.Conditions[0].Status = metav1.ConditionTrue
	})
	f.mustReconcile(t)
	if got := scheduled(); got != nil {
		t.Errorf("with a cell it is %+v", got)
	}
	if available := meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionAvailable); available.Reason !=
		v1alpha.ReasonInstancesProvisioning {
		t.Errorf("with a cell, Available is %+v", available)
	}
}

// moveTo recreates the original and its copy in another city.
func (f *fixture) moveTo(t *testing.T, city string) {
	t.Helper()
	planes.Delete(t, f.Planes, f.original)
	planes.Delete(t, f.Planes, f.copied)
	f.city = city
	f.original = f.Deployment("web", city)
	f.original.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
	planes.Create(t, f.Planes, f.original)
	f.copied = planes.Create(t, f.Planes, f.newCopy())
}

// TestConditionsOfReferencesStay: hub/references uses another field manager, so both can write one status.
func TestConditionsOfReferencesStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	data := condition(v1alpha.ConditionReferencedDataReady, metav1.ConditionFalse, v1alpha.ReasonSourceNotFound, "create it")
	if err := apply.Conditions(t.Context(), f.Client, "references", f.original, data); err != nil {
		t.Fatal(err)
	}
	f.report(t, instance("web-0", f.hash, "True"), instance("web-1", f.hash, "True"))
	f.mustReconcile(t)
	conditions := f.readOriginal(t).Status.Conditions
	if got := meta.FindStatusCondition(conditions, v1alpha.ConditionReferencedDataReady); got == nil || got.Message != "create it" {
		t.Errorf("the condition of hub/references is %+v", got)
	}
	if got := meta.FindStatusCondition(conditions, v1alpha.ConditionAvailable); got == nil {
		t.Error("the condition of the cells is missing")
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
}

// TestTheStatusOfARecreatedDeployment: the status of a deployment is not written to a later one of its name.
func TestTheStatusOfARecreatedDeployment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.report(t, instance("web-0", f.hash, "True"), instance("web-1", f.hash, "True"))
	f.Project.Once("apply status", "WorkloadDeployment", func() error {
		planes.Delete(t, f.Planes, f.original)
		planes.Create(t, f.Planes, f.Deployment("web", f.city))
		return nil
	})
	if err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if got := f.readOriginal(t); got.UID == f.original.UID || len(got.Status.Conditions) > 0 {
		t.Errorf("the new deployment is %+v", got)
	}
}

// TestTheStatusOfARecreatedInstance: the status of an Instance is not written to a later one of its name.
func TestTheStatusOfARecreatedInstance(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue))
	f.mustReconcile(t)
	first := f.readInstance(t, "web-0")
	f.report(t, instance("web-0", f.hash, metav1.ConditionFalse))
	f.Project.Once("apply status", "Instance", func() error {
		planes.Delete(t, f.Planes, first)
		second := first.DeepCopy()
		second.ResourceVersion, second.UID, second.Labels = "", "", nil
		planes.Create(t, f.Planes, second)
		return nil
	})
	if err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if got := f.readInstance(t, "web-0"); len(got.Status.Conditions) > 0 {
		t.Errorf("the new Instance is %+v", got)
	}
	f.mustReconcile(t)
	if got := f.readInstance(t, "web-0"); len(got.Status.Conditions) != 1 || got.Labels[v1alpha.LabelInstanceIndex] != "0" {
		t.Errorf("after the next reconcile it is %+v", got)
	}
}

// TestAPassingStatusWaits: a transient status waits for the one that lasts.
func TestAPassingStatusWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconciler.Passing = pace.NewWrites[mcreconcile.Request](f.clock)
	step := func(wantAfter time.Duration, wantConditions bool, wantReady int32) {
		t.Helper()
		err := f.reconcile(t)
		status := planes.Get(t, f.Planes, f.original.Namespace, f.original.Name, &v1alpha.WorkloadDeployment{}).Status
		if err != nil || f.requeued != wantAfter || len(status.Conditions) > 0 != wantConditions || status.ReadyReplicas != wantReady {
			t.Errorf("requeued after %s, %v, status %+v; want %s, %t, %d", f.requeued, err, status, wantAfter, wantConditions, wantReady)
		}
	}
	step(pace.Limit, false, 0)
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue))
	step(0, true, 1)
}
