// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"fmt"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func assigned(cells ...v1alpha.CellAssignment) *v1alpha.WorkloadDeploymentAssignment {
	return &v1alpha.WorkloadDeploymentAssignment{Cells: cells}
}

func cellWith(name string, indices []int, releasing ...int) v1alpha.CellAssignment {
	return v1alpha.CellAssignment{Name: name, Indices: naming.Ranges(indices), Releasing: naming.Ranges(releasing)}
}

func TestAssign(t *testing.T) {
	all := func(string, int) bool { return true }
	none := func(string, int) bool { return false }
	cases := map[string]struct {
		current *v1alpha.WorkloadDeploymentAssignment
		shares  map[string]int
		runs    func(string, int) bool
		gone    []string
		alone   bool
		surge   surge
		want    *v1alpha.WorkloadDeploymentAssignment
	}{
		"nothing yet": {want: assigned()},
		"one cell":    {shares: map[string]int{"a": 3}, want: assigned(cellWith("a", []int{0, 1, 2}))},
		"two cells": {
			shares: map[string]int{"b": 1, "a": 2}, want: assigned(cellWith("a", []int{0, 1}), cellWith("b", []int{2})),
		},
		"one cell shrinks": {
			current: assigned(cellWith("a", []int{0, 1, 2})), shares: map[string]int{"a": 1}, runs: all, alone: true,
			want: assigned(cellWith("a", []int{0})),
		},
		"one of two, that had all, shrinks": {
			current: assigned(cellWith("a", []int{0, 1, 2})), shares: map[string]int{"a": 1}, runs: all,
			want: assigned(cellWith("a", []int{0}, 1, 2)),
		},
		"a second cell": {
			current: assigned(cellWith("a", []int{0, 1})), shares: map[string]int{"a": 2, "b": 1},
			want: assigned(cellWith("a", []int{0, 1}), cellWith("b", []int{2})),
		},
		"gaps are filled": {
			current: assigned(cellWith("a", []int{0, 4}), cellWith("b", []int{2})), shares: map[string]int{"a": 3, "b": 2},
			want: assigned(cellWith("a", []int{0, 1, 4}), cellWith("b", []int{2, 3})),
		},
		"one loses": {
			current: assigned(cellWith("a", []int{0, 1, 2}), cellWith("b", []int{3})), shares: map[string]int{"a": 2, "b": 1},
			want: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3})),
		},
		"it still runs": {
			current: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3})), shares: map[string]int{"a": 2, "b": 2},
			runs: all, want: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3, 4})),
		},
		"it is given up": {
			current: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3})), shares: map[string]int{"a": 2, "b": 2},
			runs: none, want: assigned(cellWith("a", []int{0, 1}), cellWith("b", []int{2, 3})),
		},
		"it is taken back": {
			current: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3})), shares: map[string]int{"a": 3, "b": 1},
			runs: all, want: assigned(cellWith("a", []int{0, 1, 2}), cellWith("b", []int{3})),
		},
		"a cell is lost": {
			current: assigned(cellWith("a", []int{0, 2}), cellWith("b", []int{1})), shares: map[string]int{"b": 3}, runs: all,
			gone: []string{"a"}, want: assigned(cellWith("b", []int{0, 1, 2})),
		},
		"a cell is left": {
			current: assigned(cellWith("a", []int{0, 2}), cellWith("b", []int{1})), shares: map[string]int{"b": 3}, runs: all,
			want: assigned(cellWith("a", nil, 0, 2), cellWith("b", []int{1, 3, 4})),
		},
		"an additional Instance": {
			current: assigned(cellWith("a", []int{0})), shares: map[string]int{"a": 1}, surge: surge{"a", 1, 1}, alone: true,
			want: assigned(cellWith("a", []int{0, 1})),
		},
		"it is above a gap": {
			current: assigned(cellWith("a", []int{1}), cellWith("b", []int{3})), shares: map[string]int{"a": 1, "b": 1},
			surge: surge{"b", 1, 4}, want: assigned(cellWith("a", []int{1}), cellWith("b", []int{3, 4})),
		},
		"another moves beside it": {
			current: assigned(cellWith("a", []int{1}), cellWith("b", []int{3, 4})), shares: map[string]int{"b": 2},
			surge: surge{"b", 1, 4}, runs: all, gone: []string{"a"}, want: assigned(cellWith("b", []int{3, 4, 5})),
		},
		"it is removed": {
			current: assigned(cellWith("a", []int{0, 1})), shares: map[string]int{"a": 1}, runs: all, alone: true,
			want: assigned(cellWith("a", []int{0})),
		},
		"nobody has a share": {current: assigned(cellWith("a", []int{0})), runs: all, gone: []string{"a"}, want: assigned()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := assign(division{
				current: c.current, shares: c.shares, surge: c.surge, runs: c.runs, alone: c.alone,
				released: func(cell *v1alpha.CellAssignment) bool { return slices.Contains(c.gone, cell.Name) },
			})
			for i := range got.Cells {
				if cell := &got.Cells[i]; (cell.LeavingSince != nil) != (len(cell.Indices) == 0) {
					t.Errorf("cell %s leaves since %v with %v", cell.Name, cell.LeavingSince, cell.Indices)
				}
				cell := &got.Cells[i]
				cell.LeavingSince = nil
				if least := cell.MinReplicas; (least != nil) != (cell.Name == c.surge.cell) ||
					least != nil && int(*least) != c.shares[cell.Name]+c.surge.count {
					t.Errorf("cell %s always runs %v", cell.Name, least)
				}
				cell.MinReplicas = nil
			}
			if fmt.Sprint(*got) != fmt.Sprint(*c.want) {
				t.Errorf("got %v, want %v", *got, *c.want)
			}
		})
	}
}
