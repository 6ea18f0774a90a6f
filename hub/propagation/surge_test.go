// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func surging(replicas, more int32) *v1alpha.WorkloadDeployment {
	d := &v1alpha.WorkloadDeployment{}
	d.Spec.ScaleSettings.MinReplicas, d.Spec.Surge = replicas, more
	d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: replicas}
	return d
}

// TestSurgeCell: the cell of additional Instances has other Instances of the deployment, and stays the same.
func TestSurgeCell(t *testing.T) {
	cases := map[string]struct {
		deployment *v1alpha.WorkloadDeployment
		current    *v1alpha.WorkloadDeploymentAssignment
		shares     map[string]int
		want       surge
	}{
		"none":             {deployment: surging(1, 0), shares: map[string]int{"a": 1}},
		"one cell":         {deployment: surging(1, 1), shares: map[string]int{"a": 1}, want: surge{"a", 1, 1}},
		"the larger share": {deployment: surging(3, 2), shares: map[string]int{"a": 1, "b": 2}, want: surge{"b", 2, 3}},
		"no share":         {deployment: surging(1, 1), shares: map[string]int{"a": 0}},
		"it has them already": {
			deployment: surging(3, 1), current: assigned(cellWith("a", []int{0, 3}), cellWith("b", []int{1, 2})),
			shares: map[string]int{"a": 1, "b": 2}, want: surge{"a", 1, 3},
		},
		"a partition above all": {
			deployment: func() *v1alpha.WorkloadDeployment {
				d := surging(1, 1)
				d.Spec.Partition.Index = naming.MaxIndex + 1
				return d
			}(),
			shares: map[string]int{"a": 1}, want: surge{cell: "a", count: 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := &scope{deployment: c.deployment}
			if got := s.surge(c.current, c.shares); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestSurgeOnTheHub: the copy asks for an additional Instance, and no more once the rollout is over.
func TestSurgeOnTheHub(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	change := func(more int32) {
		planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
			d.Spec.ScaleSettings.MinReplicas, d.Spec.Surge = 1, more
			if d.Spec.Partition = nil; more > 0 {
				d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: 1, Template: *d.Spec.Template.DeepCopy()}
			}
		})
		f.mustReconcile(t, "web")
	}
	for range 2 {
		change(0)
	}
	before := read(t, f, f.copied()).Spec
	change(1)
	surging := read(t, f, f.copied()).Spec
	if got := naming.Assigned(surging.Assignment, f.cell.Name); len(got) != 2 || surging.StatedReplicas() != 1 ||
		surging.DesiredReplicas() != 2 || surging.Surge != 0 {
		t.Errorf("the cell may run %v; Karmada divides %d of %d", got, surging.StatedReplicas(), surging.DesiredReplicas())
	}
	change(0)
	if after := read(t, f, f.copied()).Spec; !equality.Semantic.DeepEqual(after, before) {
		t.Errorf("the copy is %+v afterwards, not %+v", after, before)
	}
}

// TestCopyWithSurge: the cells run additional Instances, and Karmada divides the others as before.
func TestCopyWithSurge(t *testing.T) {
	copied := surging(2, 1)
	addSurge(copied)
	if stated, desired := copied.Spec.StatedReplicas(), copied.Spec.DesiredReplicas(); stated != 2 || desired != 3 || copied.Spec.Surge != 0 {
		t.Errorf("Karmada divides %d, the cells run %d, and surge is %d", stated, desired, copied.Spec.Surge)
	}
	copied.Spec.Assignment = assign(division{
		shares: map[string]int{"a": 1, "b": 1}, surge: surge{"b", 1, 2}, runs: func(string, int) bool { return true },
	})
	for cell, want := range map[string]int{"a": 1, "b": 2} {
		copied.Annotations = map[string]string{v1alpha.AnnotationWorkNamespace: "karmada-es-" + cell}
		copied.Spec.Replicas = new(int32(1))
		if got := naming.Desired(copied); len(got) != want {
			t.Errorf("cell %s runs Instances %v", cell, got)
		}
	}
}
