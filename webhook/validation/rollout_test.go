// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestRolloutFields(t *testing.T) {
	tests := map[string]struct {
		rollout v1alpha.WorkloadRollout
		want    string
	}{
		"nothing": {},
		"all": {
			rollout: v1alpha.WorkloadRollout{
				CityOrder: []string{"ord", "DFW"}, CitiesAtOnce: new(int32(2)), Batch: new(intstr.FromString("10%")),
				PauseAfter: new(intstr.FromString("FirstCity")), OnFailure: v1alpha.RolloutUndo,
			},
		},
		"a surge":             {rollout: v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromString("100%"))}},
		"no surge":            {rollout: v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromInt32(0))}},
		"no surge in percent": {rollout: v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromString("0%"))}},
		"a surge over 100 %": {
			rollout: v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromString("101%"))}, want: "spec.rollout.maxSurge",
		},
		"a surge below 0": {rollout: v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromInt32(-1))}, want: "spec.rollout.maxSurge"},
		"a surge without a unit": {
			rollout: v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromString("2"))}, want: "spec.rollout.maxSurge",
		},
		"a surge of signs": {
			rollout: v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromString("+5%"))}, want: "spec.rollout.maxSurge",
		},
		"a batch over 100 %": {rollout: v1alpha.WorkloadRollout{Batch: new(intstr.FromString("101%"))}, want: "spec.rollout.batch"},
		"a batch of 0":       {rollout: v1alpha.WorkloadRollout{Batch: new(intstr.FromInt32(0))}, want: "spec.rollout.batch"},
		"a pause after 0": {
			rollout: v1alpha.WorkloadRollout{PauseAfter: new(intstr.FromInt32(0))}, want: "spec.rollout.pauseAfter",
		},
		"a pause after something": {
			rollout: v1alpha.WorkloadRollout{PauseAfter: new(intstr.FromString("Canary"))}, want: "spec.rollout.pauseAfter",
		},
		"a city that no placement names": {rollout: v1alpha.WorkloadRollout{CityOrder: []string{"AMS"}}, want: "spec.rollout.cityOrder[0]"},
		"a city twice": {
			rollout: v1alpha.WorkloadRollout{CityOrder: []string{"DFW", "dfw"}}, want: "spec.rollout.cityOrder[1]",
		},
		"no city at once": {rollout: v1alpha.WorkloadRollout{CitiesAtOnce: new(int32(0))}, want: "spec.rollout.citiesAtOnce"},
		"a long history":  {rollout: v1alpha.WorkloadRollout{RevisionHistoryLimit: new(int32(51))}, want: "spec.rollout.revisionHistoryLimit"},
		"another policy":  {rollout: v1alpha.WorkloadRollout{OnFailure: "Abort"}, want: "spec.rollout.onFailure"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &v1alpha.WorkloadSpec{
				Placements: []v1alpha.WorkloadPlacement{{Name: "main", CityCodes: []string{"DFW", "ORD"}}}, Rollout: &test.rollout,
			}
			found := &problems{}
			found.rollout(place{}.child("spec").child("rollout"), spec)
			got := ""
			if len(found.list) > 0 {
				got = found.list[0].Field
			}
			if got != test.want || len(found.list) > 1 {
				t.Errorf("got %v, want a problem of %q", found.list, test.want)
			}
		})
	}
}

// TestSurgeWarnings: the autoscaler of a cell counts additional Instances.
func TestSurgeWarnings(t *testing.T) {
	scaled := v1alpha.HorizontalScaleSettings{MinReplicas: 1, MaxReplicas: new(int32(3)), Metrics: []v1alpha.MetricSpec{
		{Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(50))}}},
	}}
	spec := &v1alpha.WorkloadSpec{
		Placements: []v1alpha.WorkloadPlacement{{ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1}}, {ScaleSettings: scaled}},
	}
	if got := surgeWarnings(spec); len(got) > 0 {
		t.Errorf("without maxSurge it warns: %q", got)
	}
	spec.Rollout = &v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromString("10%"))}
	if got := surgeWarnings(spec); len(got) != 1 || !strings.Contains(got[0], "spec.placements[1]") {
		t.Errorf("it warns %q", got)
	}
}
