// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestLag: each change of Ready in the cell is measured when it is shown; an Unknown phase and its end are not.
func TestLag(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	lag := NewLag(registry)
	f := &fixture{metrics: registry, city: "DFW"}
	at := func(status metav1.ConditionStatus, second int64) []metav1.Condition {
		return []metav1.Condition{
			{Type: "Other", Status: metav1.ConditionTrue, LastTransitionTime: metav1.Unix(999, 0)},
			{Type: v1alpha.ConditionReady, Status: status, LastTransitionTime: metav1.Unix(second, 0)},
		}
	}
	clock := testingclock.NewFakePassiveClock(time.Time{})
	s := &scope{
		Reconciler: New(Options{Lag: lag, Clock: clock}),
		facts:      facts{deployment: &v1alpha.WorkloadDeployment{}, copied: &v1alpha.WorkloadDeployment{}},
	}
	s.deployment.Status.ReadyReplicas = 1
	s.deployment.Spec.CityCode = f.city
	for name, c := range map[string]struct {
		before, shown []metav1.Condition
		reported      int32 // ready Instances; the project shows 1
		now           int64
		want          float64 // -1: not measured
	}{
		"it becomes ready":                     {at(metav1.ConditionFalse, 100), at(metav1.ConditionTrue, 110), 2, 113, 3},
		"it becomes ready within a second":     {at(metav1.ConditionFalse, 110), at(metav1.ConditionTrue, 110), 2, 113, 3},
		"it is not ready any more":             {at(metav1.ConditionTrue, 100), at(metav1.ConditionFalse, 200), 0, 260, 60},
		"it has changed during a doubt":        {at(metav1.ConditionUnknown, 150), at(metav1.ConditionFalse, 200), 0, 500, 300},
		"the cell's clock is ahead":            {at(metav1.ConditionFalse, 100), at(metav1.ConditionTrue, 110), 2, 105, 0},
		"it is ready when it is shown first":   {nil, at(metav1.ConditionTrue, 110), 2, 115, 5},
		"it is not ready yet":                  {nil, at(metav1.ConditionFalse, 110), 2, 115, -1},
		"it was deleted in the project":        {nil, at(metav1.ConditionTrue, 110), 1, 500, -1},
		"it has not changed":                   {at(metav1.ConditionTrue, 110), at(metav1.ConditionTrue, 110), 2, 500, -1},
		"it is doubted":                        {at(metav1.ConditionTrue, 110), at(metav1.ConditionUnknown, 200), 1, 500, -1},
		"a doubt has ended, nothing changed":   {at(metav1.ConditionUnknown, 200), at(metav1.ConditionTrue, 110), 1, 500, -1},
		"another cell reports an earlier time": {at(metav1.ConditionFalse, 200), at(metav1.ConditionTrue, 110), 2, 500, -1},
	} {
		lag.seconds.Reset()
		clock.SetTime(time.Unix(c.now, 0))
		s.copied.Status.ReadyReplicas = c.reported
		s.measureLag(c.before, c.shown)
		count, seconds := f.measured(t, "karmada_compute_status_lag_seconds")
		if c.want < 0 && count != 0 || c.want >= 0 && (count != 1 || seconds != c.want) {
			t.Errorf("%s: measured %d, %v s, want %v s", name, count, seconds, c.want)
		}
	}
}

// TestLagOfWhatIsShown: a change is measured when it is written to the project.
func TestLagOfWhatIsShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.report(t, instance("web-0", f.hash, metav1.ConditionFalse))
	f.mustReconcile(t)
	ready := instance("web-0", f.hash, metav1.ConditionTrue)
	ready.Conditions[0].LastTransitionTime = metav1.Unix(1100, 0)
	f.report(t, ready)
	f.clock.SetTime(time.Unix(1107, 0))
	f.mustReconcile(t)
	f.mustReconcile(t)
	if count, seconds := f.measured(t, "karmada_compute_status_lag_seconds"); count != 1 || seconds != 7 {
		t.Errorf("%d are measured, with %v s", count, seconds)
	}
}
