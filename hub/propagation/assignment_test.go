// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func assigned(cells ...v1alpha.CellAssignment) *v1alpha.WorkloadDeploymentAssignment {
	return &v1alpha.WorkloadDeploymentAssignment{Cells: cells}
}

func cellWith(name string, indices []int, releasing ...int) v1alpha.CellAssignment {
	return v1alpha.CellAssignment{Name: name, Indices: v1alpha.IndexRanges(indices), Releasing: v1alpha.IndexRanges(releasing)}
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
		want    *v1alpha.WorkloadDeploymentAssignment
	}{
		"nothing yet":                       {want: assigned()},
		"one cell":                          {shares: map[string]int{"a": 3}, want: assigned(cellWith("a", []int{0, 1, 2}))},
		"two cells":                         {shares: map[string]int{"b": 1, "a": 2}, want: assigned(cellWith("a", []int{0, 1}), cellWith("b", []int{2}))},
		"one cell shrinks":                  {current: assigned(cellWith("a", []int{0, 1, 2})), shares: map[string]int{"a": 1}, runs: all, alone: true, want: assigned(cellWith("a", []int{0}))},
		"one of two, that had all, shrinks": {current: assigned(cellWith("a", []int{0, 1, 2})), shares: map[string]int{"a": 1}, runs: all, want: assigned(cellWith("a", []int{0}, 1, 2))},
		"a second cell":                     {current: assigned(cellWith("a", []int{0, 1})), shares: map[string]int{"a": 2, "b": 1}, want: assigned(cellWith("a", []int{0, 1}), cellWith("b", []int{2}))},
		"gaps are filled":                   {current: assigned(cellWith("a", []int{0, 4}), cellWith("b", []int{2})), shares: map[string]int{"a": 3, "b": 2}, want: assigned(cellWith("a", []int{0, 1, 4}), cellWith("b", []int{2, 3}))},
		"one loses":                         {current: assigned(cellWith("a", []int{0, 1, 2}), cellWith("b", []int{3})), shares: map[string]int{"a": 2, "b": 1}, want: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3}))},
		"it still runs":                     {current: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3})), shares: map[string]int{"a": 2, "b": 2}, runs: all, want: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3, 4}))},
		"it is given up":                    {current: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3})), shares: map[string]int{"a": 2, "b": 2}, runs: none, want: assigned(cellWith("a", []int{0, 1}), cellWith("b", []int{2, 3}))},
		"it is taken back":                  {current: assigned(cellWith("a", []int{0, 1}, 2), cellWith("b", []int{3})), shares: map[string]int{"a": 3, "b": 1}, runs: all, want: assigned(cellWith("a", []int{0, 1, 2}), cellWith("b", []int{3}))},
		"a cell is lost":                    {current: assigned(cellWith("a", []int{0, 2}), cellWith("b", []int{1})), shares: map[string]int{"b": 3}, runs: all, gone: []string{"a"}, want: assigned(cellWith("b", []int{0, 1, 2}))},
		"a cell is left":                    {current: assigned(cellWith("a", []int{0, 2}), cellWith("b", []int{1})), shares: map[string]int{"b": 3}, runs: all, want: assigned(cellWith("a", nil, 0, 2), cellWith("b", []int{1, 3, 4}))},
		"nobody has a share":                {current: assigned(cellWith("a", []int{0})), runs: all, gone: []string{"a"}, want: assigned()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := assign(division{current: c.current, shares: c.shares, runs: c.runs, alone: c.alone, gone: func(cell string) bool { return slices.Contains(c.gone, cell) }})
			if fmt.Sprint(*got) != fmt.Sprint(*c.want) {
				t.Errorf("got %v, want %v", *got, *c.want)
			}
		})
	}
}

// TestNoIndexIsUsedTwice plays a city with cells that come, go, get more and less, and give up what they lose whenever
// they like.
func TestNoIndexIsUsedTwice(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	cells := []string{"a", "b", "c"}
	running := map[string]map[int]bool{"a": {}, "b": {}, "c": {}}
	current := assigned()
	for step := range 5000 {
		shares := map[string]int{}
		for _, cell := range cells {
			if n := random.IntN(6); n > 0 {
				shares[cell] = n
			}
		}
		next := assign(division{
			current: current, shares: shares,
			runs: func(cell string, index int) bool { return running[cell][index] },
			gone: func(cell string) bool { return len(running[cell]) == 0 && len(current.Indices(cell)) == 0 },
		})
		for cell, n := range shares {
			if got := next.Indices(cell); len(got) != n {
				t.Fatalf("step %d: cell %s has %v, its share is %d", step, cell, got, n)
			}
		}
		current = next
		play(random, current, running)
		seen := map[int]string{}
		for _, cell := range cells {
			for index := range running[cell] {
				if seen[index] != "" {
					t.Fatalf("step %d: index %d runs in %s and %s, %v", step, index, seen[index], cell, *current)
				}
				seen[index] = cell
			}
		}
	}
}

// play has each cell start what it may and, as it likes, end what it may not run any more.
func play(random *rand.Rand, current *v1alpha.WorkloadDeploymentAssignment, running map[string]map[int]bool) {
	for cell := range running {
		for index := range running[cell] {
			if current.Owner(index) != cell && random.IntN(2) == 0 {
				delete(running[cell], index)
			}
		}
		for _, index := range current.Indices(cell) {
			running[cell][index] = true
		}
	}
}
