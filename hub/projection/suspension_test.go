// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// suspend plays hub/propagation, which writes into the copy whether the project is suspended.
func (f *fixture) suspend(t *testing.T, suspended bool) {
	t.Helper()
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.Suspended = suspended })
}

// confirm plays a cell that is stopping the Instances, or reports that nothing runs any more.
func (f *fixture) confirm(t *testing.T, stopped metav1.ConditionStatus) {
	t.Helper()
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status.ObservedGeneration, d.Status.ReadyReplicas = d.Generation, 0
		d.Status.Conditions = []metav1.Condition{
			condition(v1alpha.ConditionAvailable, metav1.ConditionFalse, v1alpha.ReasonProjectSuspended, "in the cell"),
			condition(v1alpha.ConditionProgressing, metav1.ConditionFalse, v1alpha.ReasonProjectSuspended, "in the cell"),
			condition(v1alpha.ConditionReplicasReady, metav1.ConditionFalse, v1alpha.ReasonProjectSuspended, "in the cell"),
			condition(v1alpha.ConditionSuspended, stopped, v1alpha.ReasonProjectSuspended, "in the cell"),
		}
	})
}

func TestSuspension(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		set         func(*testing.T, *fixture)
		wantReason  string
		wantMessage string
		wantNoCell  bool
	}{
		"the cell has not reported on it": {
			func(*testing.T, *fixture) {}, v1alpha.ReasonNotConfirmed, "(has not reported yet)", false,
		},
		"the cell stops its Instances": {
			func(t *testing.T, f *fixture) { t.Helper(); f.confirm(t, metav1.ConditionFalse) }, v1alpha.ReasonSuspending,
			"(is stopping its Instances)", false,
		},
		"the cell has stopped them": {
			func(t *testing.T, f *fixture) { t.Helper(); f.confirm(t, metav1.ConditionTrue) }, v1alpha.ReasonProjectSuspended,
			"nothing of it runs in", true,
		},
		"the cell is lost before it confirms": {
			func(t *testing.T, f *fixture) { t.Helper(); f.SetReady(t, f.cell, metav1.ConditionFalse, f.now()) },
			v1alpha.ReasonNotConfirmed, "Karmada does not reach it", false,
		},
		"the cell is lost after that": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				f.confirm(t, metav1.ConditionTrue)
				f.SetReady(t, f.cell, metav1.ConditionFalse, f.now())
			},
			v1alpha.ReasonProjectSuspended, "nothing of it runs in", true,
		},
		"a lost cell whose Instances were moved": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				other := f.Cell(t, f.city)
				planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment.Cells[0].Name = other.Name })
				f.SetReady(t, f.cell, metav1.ConditionFalse, f.now())
				lost := f.cell
				f.cell = other
				f.confirm(t, metav1.ConditionTrue)
				f.cell = lost
			},
			v1alpha.ReasonNotConfirmed, "Karmada does not reach it", false,
		},
		"a cell that is gone for good": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) {
					c.Annotations = map[string]string{v1alpha.AnnotationForget: "true"}
				})
			},
			v1alpha.ReasonProjectSuspended, "nothing of it runs in", true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.serve(t)
			f.suspend(t, true)
			test.set(t, f)
			f.mustReconcile(t)
			f.pass(time.Second)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
			status := f.readOriginal(t).Status
			if !status.Suspended {
				t.Error("the status does not have suspended")
			}
			conditions := status.Conditions
			available := meta.FindStatusCondition(conditions, v1alpha.ConditionAvailable)
			if available.Status != metav1.ConditionFalse || available.Reason != v1alpha.ReasonProjectSuspended ||
				!strings.Contains(available.Message, test.wantMessage) ||
				strings.Contains(available.Message, "cell "+f.cell.Name) == test.wantNoCell {
				t.Errorf("Available is %+v", available)
			}
			suspended := meta.FindStatusCondition(conditions, v1alpha.ConditionSuspended)
			if suspended.Reason != test.wantReason ||
				(suspended.Status == metav1.ConditionTrue) != (test.wantReason == v1alpha.ReasonProjectSuspended) ||
				meta.IsStatusConditionTrue(conditions, v1alpha.ConditionProgressing) == (suspended.Status == metav1.ConditionTrue) {
				t.Errorf("Suspended is %+v", suspended)
			}
		})
	}
}

// TestResumed: after the project is resumed no condition shows it as suspended, even before the cells report again.
func TestResumed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	f.suspend(t, true)
	f.confirm(t, metav1.ConditionTrue)
	f.mustReconcile(t)
	f.suspend(t, false)
	f.mustReconcile(t)
	status := f.readOriginal(t).Status
	for _, condition := range status.Conditions {
		if condition.Reason == v1alpha.ReasonProjectSuspended {
			t.Errorf("it says %+v", condition)
		}
	}
	if status.Suspended || !meta.IsStatusConditionFalse(status.Conditions, v1alpha.ConditionAvailable) ||
		!meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionProgressing) {
		t.Errorf("the status is %+v", status)
	}
	f.serve(t)
	if status := f.readOriginal(t).Status; !meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionAvailable) {
		t.Errorf("the status is %+v", status)
	}
}

// TestASuspendedProjectThatRefusesWrites gets the cells' reports when it is resumed. Until then the reconcile returns
// the refusal of the project.
func TestASuspendedProjectThatRefusesWrites(t *testing.T) {
	t.Parallel()
	const cause metav1.CauseType = "ProjectSuspended"
	f := newFixture(t)
	f.serve(t)
	f.suspend(t, true)
	f.confirm(t, metav1.ConditionTrue)
	f.Project.Before(func(call planes.Call) error {
		if slices.Contains([]string{"get", "list", "delete"}, call.Verb) {
			return nil
		}
		refusal := apierrors.NewForbidden(schema.GroupResource{Group: v1alpha.GroupVersion.Group, Resource: call.Kind},
			call.Name, errors.New("suspended"))
		refusal.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: cause}}
		return refusal
	})
	if err := f.reconcile(t); !apierrors.HasStatusCause(err, cause) {
		t.Errorf("got %v", err)
	}
	if status := f.readOriginal(t).Status; !meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionAvailable) {
		t.Errorf("the status is %+v", status)
	}
	f.Project.Before(nil)
	f.mustReconcile(t)
	suspended := meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionSuspended)
	if suspended == nil || suspended.Reason != v1alpha.ReasonProjectSuspended {
		t.Errorf("when it accepts writes, Suspended is %+v", suspended)
	}
}
