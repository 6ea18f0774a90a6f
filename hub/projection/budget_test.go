// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestFloorInForce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		floor    v1alpha.AvailabilityFloor
		sequence int64
		want     int32
	}{
		"confirmed":     {v1alpha.AvailabilityFloor{MinAvailable: 1, Sequence: 4}, 4, 1},
		"no disruption": {v1alpha.AvailabilityFloor{MinAvailable: budget.Everything, Sequence: 4}, 4, budget.Everything},
		"not yet": {
			v1alpha.AvailabilityFloor{MinAvailable: 2, Sequence: 4, Pending: &v1alpha.PendingFloor{Lowest: 1, Confirmed: 3}}, 3, 1,
		},
		"the first, not yet":  {v1alpha.AvailabilityFloor{MinAvailable: 2, Sequence: 4, Pending: &v1alpha.PendingFloor{}}, 0, 0},
		"an earlier report":   {v1alpha.AvailabilityFloor{MinAvailable: 2, Sequence: 4}, 3, 0},
		"of a restored hub":   {v1alpha.AvailabilityFloor{MinAvailable: 2, Sequence: 4}, 9, 0},
		"fewer are Available": {v1alpha.AvailabilityFloor{MinAvailable: 5, Sequence: 4}, 4, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Floor = &v1alpha.AvailabilityFloor{MinAvailable: test.floor.MinAvailable, Sequence: 11}
				d.Spec.Assignment.Cells[0].Floor = &test.floor
			})
			f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", f.hash, metav1.ConditionTrue))
			planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
				d.Status.Indices[0].FloorSequence, d.Status.Indices[0].Available, d.Status.Indices[0].AwaitingDisruption = test.sequence, 2, 1
			})
			f.mustReconcile(t)
			status := f.readOriginal(t).Status
			if status.FloorSequence != 11 || status.FloorInForce != test.want || status.FloorAvailable != 2 || status.AwaitingDisruption != 1 {
				t.Errorf("status %+v, want a floor of %d in force", status, test.want)
			}
		})
	}
}
