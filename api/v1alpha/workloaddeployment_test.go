// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha_test

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestDesiredReplicas(t *testing.T) {
	cases := map[string]struct {
		spec v1alpha.WorkloadDeploymentSpec
		want int32
	}{
		"minReplicas":      {spec: spec(2, nil, nil), want: 2},
		"asked for":        {spec: spec(2, new(int32(5)), new(int32(4))), want: 4},
		"not below min":    {spec: spec(2, new(int32(5)), new(int32(0))), want: 2},
		"not above max":    {spec: spec(2, new(int32(5)), new(int32(9))), want: 5},
		"no max, not more": {spec: spec(2, nil, new(int32(9))), want: 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.spec.DesiredReplicas(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func spec(least int32, most, replicas *int32) v1alpha.WorkloadDeploymentSpec {
	return v1alpha.WorkloadDeploymentSpec{
		Replicas:      replicas,
		ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: least, MaxReplicas: most},
	}
}
