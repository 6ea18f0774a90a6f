// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestNoReportIsRepeated: a state that returns is not the same report again. Karmada compares a report with the one in
// its cache, and writes nothing if both are equal, although the hub may have the report between them already.
func TestNoReportIsRepeated(t *testing.T) {
	for name, edited := range map[string]int64{"not edited": 0, "too high": math.MaxInt64, "negative": -7} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(17, func(d *v1alpha.WorkloadDeployment) { d.Spec.Slices = 1 })
			for _, index := range []int{0, 16} {
				f.setReady(f.instance(deployment, index), metav1.ConditionTrue)
			}
			slice := &v1alpha.InstanceSlice{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: naming.SliceName("web", 0)},
				Spec:       v1alpha.InstanceSliceSpec{Deployment: "web", IndexRange: naming.SliceRange(0)},
			}
			f.create(slice)
			f.rollUp()
			reported := func() *v1alpha.WorkloadDeploymentStatus {
				f.get(slice, slice.Name)
				return &f.storedDeployment().Status
			}
			first := reported()
			firstOfSlice := slice.Status.DeepCopy()

			changed := f.storedDeployment()
			changed.Status.ReadyReplicas = 0
			slice.Status.Instances = nil
			if edited != 0 {
				changed.Status.Sequence, slice.Status.Sequence = edited, edited
			}
			for _, object := range []client.Object{changed, slice} {
				if err := f.direct.Status().Update(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			f.clock.SetTime(now.Add(time.Second))
			f.rollUp()

			again := reported()
			if again.ReadyReplicas != first.ReadyReplicas || len(slice.Status.Instances) != len(firstOfSlice.Instances) {
				t.Fatalf("the state has not returned: %+v, %+v", again.ReplicaCounts, slice.Status)
			}
			if equality.Semantic.DeepEqual(first, again) || equality.Semantic.DeepEqual(firstOfSlice, &slice.Status) {
				t.Errorf("the reports are repeated: sequences %d and %d, then %d and %d",
					first.Sequence, firstOfSlice.Sequence, again.Sequence, slice.Status.Sequence)
			}
		})
	}
}
