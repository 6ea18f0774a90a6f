// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestNeeded(t *testing.T) {
	of := func(value string) *intstr.IntOrString { return new(intstr.Parse(value)) }
	rollout := func(unavailable string) *v1alpha.WorkloadRollout {
		return &v1alpha.WorkloadRollout{MaxUnavailable: of(unavailable)}
	}
	atLeast := func(available string) *v1alpha.WorkloadDisruption {
		return &v1alpha.WorkloadDisruption{MinAvailable: of(available)}
	}
	for name, test := range map[string]struct {
		wanted     int32
		rollout    *v1alpha.WorkloadRollout
		disruption *v1alpha.WorkloadDisruption
		want       int32
	}{
		"none is wanted":                              {0, nil, nil, 0},
		"none is wanted, with a budget":               {0, rollout("1"), atLeast("3"), 0},
		"a single one":                                {1, nil, nil, 1},
		"a single one that a rollout may stop":        {1, rollout("100%"), nil, 1},
		"two":                                         {2, nil, nil, 1},
		"a quarter of eight":                          {8, nil, nil, 6},
		"a quarter of seven, rounded down":            {7, nil, nil, 6},
		"a number":                                    {8, rollout("3"), nil, 5},
		"more than there are":                         {8, rollout("20"), nil, 1},
		"a stricter budget":                           {8, nil, atLeast("8"), 8},
		"a budget that is stricter than it can be":    {8, nil, atLeast("12"), 8},
		"a budget that allows more than rollouts may": {8, nil, atLeast("1"), 6},
	} {
		if got := Needed(test.wanted, test.rollout, test.disruption); got != test.want {
			t.Errorf("%s: %d Instances are needed, want %d", name, got, test.want)
		}
	}
}
