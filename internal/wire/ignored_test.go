// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestIgnoredEntries: the ignored entries and the shown entries are all entries of a report.
func TestIgnoredEntries(t *testing.T) {
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
		{Name: "a", Indices: []v1alpha.IndexRange{{First: 0, Last: 1}}}, {Name: "b", Indices: []v1alpha.IndexRange{{First: 2, Last: 2}}},
	}}
	entries := func(indices ...int32) []v1alpha.InstanceEntry {
		var result []v1alpha.InstanceEntry
		for _, index := range indices {
			result = append(result, v1alpha.InstanceEntry{Index: index})
		}
		return result
	}
	states := []v1alpha.InstanceState{{TemplateHash: "x"}}
	reports := []v1alpha.InstanceReport{
		{Cell: "a", States: states, Instances: append(entries(0, 0, 2, 400, -1, 7), v1alpha.InstanceEntry{Index: 1, State: 9})},
		{Cell: "b", States: states, Instances: entries(2, 0, 7)},
	}
	got := Ignored(d, reports, v1alpha.IndexRange{Last: naming.MaxIndex})
	want := map[string]map[IgnoredCause]int{
		"a": {IgnoredTwice: 1, IgnoredOwner: 1, IgnoredIndex: 2, IgnoredState: 1},
		"b": {IgnoredOwner: 1, IgnoredTwice: 1},
	}
	if !maps.EqualFunc(got, want, maps.Equal[map[IgnoredCause]int, map[IgnoredCause]int]) {
		t.Errorf("got %v, want %v", got, want)
	}
	d.Status.Reports = reports
	ignored := 0
	for _, causes := range got {
		for cause, count := range causes {
			if cause != IgnoredState {
				ignored += count
			}
		}
	}
	if shown := len(Instances(d)); shown+ignored != 10 {
		t.Errorf("%d entries are shown and %d ignored of 10", shown, ignored)
	}
	if got := Ignored(d, []v1alpha.InstanceReport{{Cell: "a", States: states, Instances: entries(0, 1)}},
		v1alpha.IndexRange{First: 0, Last: 0}); got["a"][IgnoredIndex] != 1 {
		t.Errorf("outside of the slice: %v", got)
	}
	if got := Ignored(d, []v1alpha.InstanceReport{{Cell: "a", States: states, Instances: entries(0, 1)}},
		v1alpha.IndexRange{Last: naming.MaxIndex}); got != nil {
		t.Errorf("of a report without fault: %v", got)
	}
}

// TestReportsThatLuaReadsOtherwise: what Go would decode, and Lua would not, is ignored by both.
func TestReportsThatLuaReadsOtherwise(t *testing.T) {
	report := DecodeReport([]byte(`{"generation":1,"floorSequence":-9223372036854775808}`))
	if !report.Faults["floorSequence"] || report.FloorSequence != 0 {
		t.Errorf("faults %v, a sequence of %d", report.Faults, report.FloorSequence)
	}
	if report = DecodeReport([]byte(`{"generation":1,"indices":[null]}`)); len(report.Indices) > 0 {
		t.Errorf("%d entries of indices", len(report.Indices))
	}
}
