// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// progress plays projection, which reports that a deployment progresses, or since when it has not.
func (f *fixture) progress(t *testing.T, name, reason, message string, last time.Time) {
	t.Helper()
	f.report(t, name, report{reason: v1alpha.ReasonStableInstanceFound, ready: 1, rolling: true})
	changeStatus(t, f, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
		condition := meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionProgressing)
		condition.Reason, condition.Message = reason, message
		if reason == v1alpha.ReasonProgressDeadlineExceeded {
			condition.Status = metav1.ConditionFalse
		}
		d.Status.LastProgressTime = new(metav1.NewTime(last))
	})
}

func (f *fixture) expectProgress(t *testing.T, what, reason, message string) {
	t.Helper()
	f.mustReconcile(t)
	got := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionProgressing)
	if got.Reason != reason || got.Message != message || (got.Status == metav1.ConditionTrue) != (reason == v1alpha.ReasonRollingOut) {
		t.Errorf("%s: Progressing is %+v, want %s: %s", what, got, reason, message)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("%s: when nothing has changed, it writes %v", what, writes)
	}
}

// TestProgress: the Workload reports what its cities wait for, cities that exceed their deadline first.
func TestProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD AMS LHR SIN")
	f.workload(t, "main DFW ORD AMS LHR SIN")
	f.mustReconcile(t)
	for _, city := range []string{"dfw", "ams", "lhr", "sin"} {
		f.report(t, "web-main-"+city, report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	}
	f.expectProgress(t, "without a status", v1alpha.ReasonRollingOut, "ORD: its deployment has no status yet")
	last := f.clock.Now().Add(time.Minute)
	f.progress(t, "web-main-ord", v1alpha.ReasonRollingOut, "ORD: Instance web-main-ord-1 starts", last)
	f.expectProgress(t, "one city rolls out", v1alpha.ReasonRollingOut, "ORD: Instance web-main-ord-1 starts")
	if got := f.readWorkload(t).Status.LastProgressTime; got == nil || !got.Time.Equal(last) {
		t.Errorf("the last progress was at %s", got)
	}
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 2, behind: true})
	f.progress(t, "web-main-sin", v1alpha.ReasonProgressDeadlineExceeded, "SIN: no progress: 8 Insufficient cpu", last)
	if f.mustReconcile(t); !slices.Contains(f.told(), v1alpha.ReasonProgressDeadlineExceeded) {
		t.Errorf("no event says that there is no progress: %v", f.told())
	}
	f.expectProgress(t, "one city is stuck", v1alpha.ReasonProgressDeadlineExceeded,
		"SIN: no progress: 8 Insufficient cpu; DFW: the newest generation is not rolled out yet; ORD: Instance web-main-ord-1 starts")
	for _, city := range []string{"ams", "lhr"} {
		f.progress(t, "web-main-"+city, v1alpha.ReasonRollingOut, strings.ToUpper(city)+": starts", last)
	}
	f.expectProgress(t, "all of them", v1alpha.ReasonProgressDeadlineExceeded,
		"SIN: no progress: 8 Insufficient cpu; AMS: starts; DFW: the newest generation is not rolled out yet; and 2 more deployments")
	for _, city := range []string{"dfw", "ord", "ams", "lhr", "sin"} {
		f.report(t, "web-main-"+city, report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	}
	f.expectProgress(t, "settled", v1alpha.ReasonSettled, "")
	if got := f.readWorkload(t).Status.LastProgressTime; got != nil {
		t.Errorf("it is settled, and the last progress was at %s", got)
	}
}

// TestTheDeadlineOfAMissingNetwork: the Workload has no deployment that has a deadline.
func TestTheDeadlineOfAMissingNetwork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	change(t, f, workload, func(w *v1alpha.Workload) {
		w.Spec.Rollout = &v1alpha.WorkloadRollout{ProgressDeadlineSeconds: new(int32(60))}
	})
	f.networks.missing = []string{"default"}
	message := "the project has no network default in namespace " + namespace +
		"; create it, or name another in spec.template.spec.networkInterfaces"
	f.expectProgress(t, "at the start", v1alpha.ReasonRollingOut, message)
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	f.expectProgress(t, "at the deadline", v1alpha.ReasonProgressDeadlineExceeded, message)
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Rollout.ProgressDeadlineSeconds = new(int32(61)) })
	f.expectProgress(t, "after a change", v1alpha.ReasonRollingOut, message)
}

// TestTheDeadlineReachesTheDeployments of the Workload.
func TestTheDeadlineReachesTheDeployments(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	if got := f.readDeployment(t, "web-main-dfw").Spec.Rollout; got != nil {
		t.Errorf("the deployment has %+v", got)
	}
	change(t, f, workload, func(w *v1alpha.Workload) {
		w.Spec.Rollout = &v1alpha.WorkloadRollout{ProgressDeadlineSeconds: new(int32(60))}
	})
	f.mustReconcile(t)
	if got := f.readDeployment(t, "web-main-dfw").Spec.Rollout; got.ProgressDeadline() != time.Minute {
		t.Errorf("the deployment has %+v", got)
	}
}
