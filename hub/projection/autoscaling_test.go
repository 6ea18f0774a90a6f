// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"errors"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestAutoscalingWhileTheHubIsAway: a cell scales without the hub. The project shows the last known scale, and then the
// newest one.
func TestAutoscalingWhileTheHubIsAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	autoscaled := v1alpha.HorizontalScaleSettings{MinReplicas: 1, MaxReplicas: new(int32(4)), Metrics: []v1alpha.MetricSpec{{
		Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(50))}},
	}}}
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings = autoscaled })
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.ScaleSettings = autoscaled
		d.Spec.Assignment.Cells[0].Indices, d.Spec.Assignment.Cells[0].MinReplicas = naming.Ranges([]int{0, 1, 2, 3}), new(int32(1))
	})
	expect := func(when string, count int) {
		t.Helper()
		if got := f.readOriginal(t).Status.ReplicaCounts; int(got.DesiredReplicas) != count || int(got.ReadyReplicas) != count {
			t.Errorf("%s the project shows %+v, want %d", when, got, count)
		}
		for index := range 4 {
			if name := naming.InstanceName("web", index); f.exists(t, name) != (index < count) {
				t.Errorf("%s Instance %s is there: %t", when, name, f.exists(t, name))
			}
		}
	}
	f.report(t, f.instances(t, 0, 1)...)
	f.mustReconcile(t)
	expect("before", 2)

	away := errors.New("connection refused")
	f.Hub.Before(func(planes.Call) error { return away })
	f.Project.Calls()
	for range 3 { // meanwhile the cell scales to 3 and to 4
		if err := f.reconcile(t); !errors.Is(err, away) {
			t.Fatalf("without the hub it says %v", err)
		}
	}
	if writes := f.Project.Writes(); len(writes) > 0 {
		t.Errorf("without the hub it writes %v", writes)
	}
	f.Hub.Before(nil)
	expect("while the hub is away", 2)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("before Karmada has collected anything it writes %v", writes)
	}
	f.report(t, f.instances(t, 0, 1, 2, 3)...)
	f.mustReconcile(t)
	expect("afterwards", 4)
}
