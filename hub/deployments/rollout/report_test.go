// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import "testing"

// TestStepWithoutReport: the last Instance of a city got a new template, and an undo returns the city to the template
// before. Its cells have not reported that step, and a late report, from before the new template, shows each Instance
// with the template that the city returns to. The cell replaces the last one still, so that no other city may lose an
// Instance. The model check found this (seed 100648).
func TestStepWithoutReport(t *testing.T) {
	t.Parallel()
	instances := func(count int, updated bool) (all []Instance) {
		for index := range count {
			all = append(all, Instance{Index: index, Updated: updated, Available: true})
		}
		return all
	}
	other := City{Name: "a", Code: "a", Template: "new", Observed: true, Cells: 1, Room: 1, Desired: 1, Instances: instances(1, true)}
	returning := City{
		Name: "b", Code: "b", Template: "good", Partition: &Partition{Index: 4, Template: "good"}, Cells: 1, Room: 2, Desired: 5,
		Instances: instances(5, true),
	}
	reported, overtaken := returning, returning
	reported.Observed = true
	// overtaken cells may act on the step before, which gave another template to more Instances than the last step gives
	// the target.
	overtaken.Partition, overtaken.Instances = &Partition{Index: 4, Template: "old"}, instances(5, false)

	for name, test := range map[string]struct {
		city           City
		maxUnavailable int
		starts         bool
	}{
		"a late report shows the target":         {returning, 1, false},
		"the step is reported":                   {reported, 1, true},
		"the cells may act on the step before":   {overtaken, 2, false},
		"the limit allows what the cells may do": {overtaken, 3, true},
	} {
		result := Plan(&State{
			Target: "good", Proven: true, MaxUnavailable: test.maxUnavailable, CitiesAtOnce: 2, Batch: 1, Cities: []City{other, test.city},
		})
		starts := false
		for _, step := range result.Take {
			starts = starts || step.City == 0
		}
		if starts != test.starts {
			t.Errorf("%s: the steps are %+v: %s", name, result.Take, result.Message)
		}
	}
}
