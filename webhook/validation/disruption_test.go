// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func budgetOf(least, most string) *v1alpha.WorkloadDisruption {
	parse := func(text string) *intstr.IntOrString {
		if text == "" {
			return nil
		}
		return new(intstr.Parse(text))
	}
	return &v1alpha.WorkloadDisruption{MinAvailable: parse(least), MaxUnavailable: parse(most)}
}

func TestDisruption(t *testing.T) {
	of := func(least, most string) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { w.Spec.Disruption = budgetOf(least, most) }
	}
	checkRules(t, []rule{
		{"a number", nil, of("5", ""), nil},
		{"a percentage", nil, of("", "25%"), nil},
		{"nothing may be missed", nil, of("", "0"), nil},
		{"all", nil, of("100%", ""), nil},
		{"both", nil, of("1", "1"), []string{"spec.disruption.maxUnavailable " + forbidden}},
		{"neither", nil, of("", ""), []string{"spec.disruption " + required}},
		{"negative", nil, of("-1", ""), []string{"spec.disruption.minAvailable " + invalid}},
		{"101%", nil, of("", "101%"), []string{"spec.disruption.maxUnavailable " + invalid}},
		{"a negative percentage", nil, of("-5%", ""), []string{"spec.disruption.minAvailable " + invalid}},
		{"text", nil, of("most", ""), []string{"spec.disruption.minAvailable " + invalid}},
	})
}

// TestDisruptionWarning: as a PodDisruptionBudget may, a budget may need every Instance.
func TestDisruptionWarning(t *testing.T) {
	for name, test := range map[string]struct {
		of   *v1alpha.WorkloadDisruption
		want bool
	}{
		"no budget":        {nil, false},
		"all but one":      {budgetOf("3", ""), false},
		"all":              {budgetOf("4", ""), true},
		"more than all":    {budgetOf("9", ""), true},
		"none missed":      {budgetOf("", "0%"), true},
		"a part rounds up": {budgetOf("76%", ""), true},
		"three quarters":   {budgetOf("75%", ""), false},
	} {
		workload := &v1alpha.Workload{}
		workload.Spec.Placements = []v1alpha.WorkloadPlacement{{CityCodes: []string{"DFW", "ORD"}}}
		workload.Spec.Placements[0].ScaleSettings.MinReplicas = 2
		workload.Spec.Disruption = test.of
		got := disruptionWarning(workload)
		if len(got) > 0 != test.want || test.want && !strings.HasPrefix(got[0], "spec.disruption: ") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
