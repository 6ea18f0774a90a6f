// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"
)

func TestAddCellRefuses(t *testing.T) {
	f := newFolder(t)
	f.state.Ports = map[string]int{}
	if err := f.assignCellPorts(Cell{Name: "iad", City: "IAD"}); err != nil {
		t.Fatal(err)
	}
	for name, cell := range map[string]Cell{
		"a name that is taken": {Name: "iad", City: "IAD"},
		"an invalid name":      {Name: "IAD", City: "IAD"},
		"no city":              {Name: "ord"},
	} {
		if err := f.AddCell(t.Context(), cell); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if cells := f.Cells(); len(cells) != 0 {
		t.Errorf("cells are %v, want none", cells)
	}
}

func TestDropCellLeavesOthersAlone(t *testing.T) {
	f := newFolder(t)
	dropped, other := Cell{Name: "iad", City: "IAD"}, Cell{Name: "iad-1", City: "IAD"}
	for _, cell := range []Cell{dropped, other} {
		if err := f.StartProcess(t.Context(), shell(apiServerName(planeCell+cell.Name), "exec sleep 60")); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.dropCell(dropped); err != nil {
		t.Fatal(err)
	}
	if got := f.Status(); len(got) != 1 || got[0].Name != apiServerName(planeCell+other.Name) || !got[0].Running {
		t.Errorf("processes are %v", got)
	}
}
