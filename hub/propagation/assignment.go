// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// division is the input of an assignment.
type division struct {
	// current is the present assignment; nil: none exists yet.
	current *v1alpha.WorkloadDeploymentAssignment
	// shares is the desired number of Instances of each cell.
	shares map[string]int
	// surge are additional Instances.
	surge surge
	// runs reports whether a cell may still run an index that it must release.
	runs func(cell string, index int) bool
	// alone: the city has one cell, so that no other cell could use an index too early.
	alone bool
	// released reports whether a cell without a share has released all of its indices.
	released func(cell *v1alpha.CellAssignment) bool
	// now is when cells that lose their last index begin to leave.
	now time.Time
}

// surge are the additional Instances of a rollout. One cell has them all.
type surge struct {
	cell string
	// count is how many there are, and from is their lowest index.
	count, from int
}

// wanted is how many Instances a cell is to run.
func (d *division) wanted(cell string) int {
	if cell == d.surge.cell {
		return d.shares[cell] + d.surge.count
	}
	return d.shares[cell]
}

// assign gives each cell as many indices as its share. A cell keeps the lowest indices that it has, so that running
// Instances keep their names, and gets the lowest free ones for the rest. Between several cells, an index that one
// loses goes to another only after the first has given it up.
func assign(d division) *v1alpha.WorkloadDeploymentAssignment {
	kept, releasing := d.keep()
	cells := slices.Sorted(maps.Keys(d.shares))
	taken := map[int]bool{}
	for _, indices := range kept {
		mark(taken, indices)
	}
	for _, indices := range releasing {
		mark(taken, indices)
	}
	for _, cell := range cells {
		// A cell may take back an index that it has not released yet.
		for _, index := range releasing[cell] {
			if len(kept[cell]) < d.wanted(cell) {
				kept[cell] = append(kept[cell], index)
				releasing[cell] = slices.DeleteFunc(slices.Clone(releasing[cell]), func(i int) bool { return i == index })
			}
		}
	}
	for _, cell := range cells {
		for index := 0; len(kept[cell]) < d.shares[cell]; index++ {
			if !taken[index] {
				taken[index] = true
				kept[cell] = append(kept[cell], index)
			}
		}
	}
	for index := d.surge.from; len(kept[d.surge.cell]) < d.wanted(d.surge.cell); index++ {
		if !taken[index] {
			kept[d.surge.cell] = append(kept[d.surge.cell], index)
		}
	}
	result := newAssignment(kept, releasing)
	for i := range result.Cells {
		if cell := &result.Cells[i]; cell.Name == d.surge.cell {
			cell.MinReplicas = new(int32(d.wanted(cell.Name))) //nolint:gosec // at most 5000
		}
	}
	d.markLeaving(result)
	return result
}

// markLeaving sets the time since which each cell without an index leaves.
func (d *division) markLeaving(result *v1alpha.WorkloadDeploymentAssignment) {
	since := map[string]*metav1.MicroTime{}
	if d.current != nil {
		for i := range d.current.Cells {
			if before := &d.current.Cells[i]; before.IsLeaving() {
				since[before.Name] = before.LeavingSince
			}
		}
	}
	for i := range result.Cells {
		cell := &result.Cells[i]
		if len(cell.Indices) > 0 {
			continue
		}
		if cell.LeavingSince = since[cell.Name]; cell.LeavingSince == nil {
			// The precision is the stored one.
			cell.LeavingSince = new(metav1.NewMicroTime(d.now.Truncate(time.Microsecond)))
		}
	}
}

// keep returns the indices that cells keep, and the lost indices that they have not released yet.
func (d *division) keep() (kept, releasing map[string][]int) {
	kept, releasing = map[string][]int{}, map[string][]int{}
	if d.current == nil {
		return kept, releasing
	}
	for i := range d.current.Cells {
		cell := d.current.Cells[i].Name
		indices := naming.Assigned(d.current, cell)
		n := min(d.wanted(cell), len(indices))
		kept[cell] = slices.Clone(indices[:n])
		if d.alone || d.shares[cell] == 0 && d.released(&d.current.Cells[i]) {
			continue
		}
		// The cell does not know yet that it loses these indices.
		releasing[cell] = slices.Clone(indices[n:])
		for _, index := range naming.Releasing(d.current, cell) {
			if d.runs(cell, index) {
				releasing[cell] = append(releasing[cell], index)
			}
		}
	}
	return kept, releasing
}

func mark(taken map[int]bool, indices []int) {
	for _, index := range indices {
		taken[index] = true
	}
}

func newAssignment(kept, releasing map[string][]int) *v1alpha.WorkloadDeploymentAssignment {
	result := &v1alpha.WorkloadDeploymentAssignment{}
	names := map[string]bool{}
	for _, indices := range []map[string][]int{kept, releasing} {
		for cell := range indices {
			names[cell] = names[cell] || len(indices[cell]) > 0
		}
	}
	for _, cell := range slices.Sorted(maps.Keys(names)) {
		if names[cell] {
			result.Cells = append(result.Cells, v1alpha.CellAssignment{
				Name: cell, Indices: naming.Ranges(kept[cell]), Releasing: naming.Ranges(releasing[cell]),
			})
		}
	}
	return result
}
