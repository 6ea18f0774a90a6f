// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestEqualInstancesShareALine: of many Instances, runs of equal ones have one line, and the one that differs has its
// own; --all shows each.
func TestEqualInstancesShareALine(t *testing.T) {
	s := &Snapshot{Workload: workload(39, 40), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 39, 40)}}
	for index := range 40 {
		state := isReady
		if index == 20 {
			state = condition(v1alpha.ConditionReady, "False", v1alpha.ReasonImageUnavailable, "the registry refuses the image")
		}
		s.Instances = append(s.Instances, withAddress(instance("DFW", index, state), fmt.Sprintf("10.0.0.%d", index)))
	}
	got := lines(s, Layout{})
	var squeezed []string
	for _, line := range got[2:] {
		squeezed = append(squeezed, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"├─ web-main-dfw-0 to -19 Ready Available 20 Instances",
		"├─ web-main-dfw-20 not Ready ImageUnavailable the registry refuses the image",
		"└─ web-main-dfw-21 to -39 Ready Available 19 Instances",
	}
	if !slices.Equal(squeezed, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if all := lines(s, Layout{All: true}); len(all) != 42 || !strings.Contains(all[41], "10.0.0.39") {
		t.Errorf("all are\n%s", strings.Join(all, "\n"))
	}
	s.Instances = s.Instances[:10]
	if few := lines(s, Layout{}); len(few) != 12 {
		t.Errorf("a few are\n%s", strings.Join(few, "\n"))
	}
}
