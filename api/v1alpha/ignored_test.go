// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestIgnoredEntries: what is counted as ignored and what is shown are all entries of a report.
func TestIgnoredEntries(t *testing.T) {
	d := &WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	d.Spec.Assignment = &WorkloadDeploymentAssignment{Cells: []CellAssignment{
		{Name: "a", Indices: []IndexRange{{First: 0, Last: 1}}}, {Name: "b", Indices: []IndexRange{{First: 2, Last: 2}}},
	}}
	entries := func(indices ...int32) []InstanceEntry {
		var result []InstanceEntry
		for _, index := range indices {
			result = append(result, InstanceEntry{Index: index})
		}
		return result
	}
	states := []InstanceState{{TemplateHash: "x"}}
	reports := []InstanceReport{
		{Cell: "a", States: states, Instances: append(entries(0, 0, 2, 400, -1, 7), InstanceEntry{Index: 1, State: 9})},
		{Cell: "b", States: states, Instances: entries(2, 0, 7)},
	}
	got := d.IgnoredEntries(reports, IndexRange{Last: maxIndex})
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
	if shown := len(d.ReportedInstances()); shown+ignored != 10 {
		t.Errorf("%d entries are shown and %d ignored of 10", shown, ignored)
	}
	if got := d.IgnoredEntries([]InstanceReport{{Cell: "a", States: states, Instances: entries(0, 1)}}, IndexRange{First: 0, Last: 0}); got["a"][IgnoredIndex] != 1 {
		t.Errorf("outside of the slice: %v", got)
	}
	if got := d.IgnoredEntries([]InstanceReport{{Cell: "a", States: states, Instances: entries(0, 1)}}, IndexRange{Last: maxIndex}); got != nil {
		t.Errorf("of a report without fault: %v", got)
	}
}
