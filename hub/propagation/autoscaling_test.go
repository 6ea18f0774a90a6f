// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestAutoscalingWhileTheHubIsAway: a hub that was unavailable finds another scale, and writes nothing that would
// revert it.
func TestAutoscalingWhileTheHubIsAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.ScaleSettings = v1alpha.HorizontalScaleSettings{MinReplicas: 1, MaxReplicas: new(int32(4)), Metrics: []v1alpha.MetricSpec{{
			Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(50))}},
		}}}
	})
	report := func(count int32, existing string) {
		planes.ChangeReports(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) {
			d.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: count, DesiredReplicas: count, ReadyReplicas: count}
			d.Status.Indices = []v1alpha.CellIndices{{Cell: f.cell.Name, Existing: existing, Ready: existing}}
		})
	}
	for range 3 {
		f.mustReconcile(t, "web")
	}
	report(2, "0-1")
	f.mustReconcile(t, "web")
	before := read(t, f, f.copied()).Spec
	if got := naming.Assigned(before.Assignment, f.cell.Name); len(got) != 4 {
		t.Errorf("the cell may run %v", got)
	}

	away := errors.New("connection refused")
	f.Hub.Before(func(planes.Call) error { return away })
	if _, err := f.reconcile(t); !errors.Is(err, away) {
		t.Errorf("without the hub it says %v", err)
	}
	f.Hub.Before(nil)
	report(4, "0-3")
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 || !equality.Semantic.DeepEqual(read(t, f, f.copied()).Spec, before) {
		t.Errorf("the hub is back, and it writes %v", writes)
	}
}
