// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestAnAdoptedWorkload: the cells know the Instances of a Workload that takes over what an earlier hub ran by its UID there: the copy
// has it, and a deployment that is recreated still adopts the copy. Other Workloads of the project have their own.
func TestAnAdoptedWorkload(t *testing.T) {
	t.Parallel()
	const earlier = types.UID("66666666-2222-4333-8444-555555555555")
	for name, adopted := range map[string]types.UID{"adopted": earlier, "its own": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Adopted["web"] = adopted
			own := f.original.Spec.WorkloadRef.UID
			f.wanted[own] = true
			want, present := own, ""
			if adopted != "" {
				want, present = adopted, string(own)
			}
			f.mustReconcile(t, "web")
			before := read(t, f, f.copied())
			if got := before.Spec.WorkloadRef.UID; got != want || before.Labels[v1alpha.LabelWorkloadUID] != string(want) {
				t.Errorf("the copy is of Workload %s, and by its label of %s; want %s", got, before.Labels[v1alpha.LabelWorkloadUID], want)
			}
			if got := before.Annotations[v1alpha.AnnotationWorkloadUID]; got != present {
				t.Errorf("the copy names Workload %q of the project, want %q", got, present)
			}
			if original := f.readOriginal(t); original.Spec.WorkloadRef.UID != own {
				t.Errorf("the original is of Workload %s, want %s", original.Spec.WorkloadRef.UID, own)
			}

			force(t, f)
			f.mustWithdraw(t)
			if got := read(t, f, f.copied()); got.UID != before.UID || !got.DeletionTimestamp.IsZero() {
				t.Fatal("the copy of a deployment that was deleted by mistake was deleted")
			}
			planes.Create(t, f.Planes, f.Deployment("web", f.city))
			f.mustReconcile(t, "web")
			if after := read(t, f, f.copied()); after.UID != before.UID || after.Spec.WorkloadRef.UID != want {
				t.Errorf("a recreated deployment does not adopt the copy, which is of Workload %s", after.Spec.WorkloadRef.UID)
			}
		})
	}
}
