// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func TestInstanceIndices(t *testing.T) {
	divided := &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
		{Name: "a", Indices: naming.Ranges([]int{4, 0, 1})},
		{Name: "b", Indices: naming.Ranges([]int{2, 3}), Releasing: naming.Ranges([]int{5})},
	}}
	cases := map[string]struct {
		cell       string
		replicas   int32
		assignment *v1alpha.WorkloadDeploymentAssignment
		want       []int
	}{
		"no assignment":              {cell: "a", replicas: 3, want: []int{0, 1, 2}},
		"those of the cell":          {cell: "a", replicas: 5, assignment: divided, want: []int{0, 1, 4}},
		"none that it releases":      {cell: "b", replicas: 5, assignment: divided, want: []int{2, 3}},
		"as many as are asked for":   {cell: "a", replicas: 2, assignment: divided, want: []int{0, 1}},
		"a cell without any":         {cell: "c", replicas: 5, assignment: divided},
		"not put there by Karmada":   {replicas: 5, assignment: divided},
		"nothing assigned to anyone": {cell: "a", replicas: 5, assignment: &v1alpha.WorkloadDeploymentAssignment{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := &v1alpha.WorkloadDeployment{}
			d.Spec.ScaleSettings.MinReplicas, d.Spec.Assignment = c.replicas, c.assignment
			if c.cell != "" {
				d.Annotations = map[string]string{v1alpha.AnnotationWorkNamespace: "karmada-es-" + c.cell}
			}
			if got := naming.Desired(d); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestAssignmentOwner(t *testing.T) {
	a := &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
		{Name: "a", Indices: naming.Ranges([]int{0, 1, 4}), Releasing: naming.Ranges([]int{7})},
	}}
	for index, want := range map[int]string{0: "a", 1: "a", 2: "", 4: "a", 7: ""} {
		if got := a.Owner(index); got != want {
			t.Errorf("index %d is %q's, want %q", index, got, want)
		}
	}
	if !a.Names("a") || a.Names("b") {
		t.Error("the cells that are named are wrong")
	}
}

func TestIndexRanges(t *testing.T) {
	got := naming.Ranges([]int{5, 0, 2, 1, 5, 7, 6})
	want := []v1alpha.IndexRange{{First: 0, Last: 2}, {First: 5, Last: 7}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
