// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pace_test

import (
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/internal/pace"
)

func TestAfter(t *testing.T) {
	tests := map[string]struct {
		delays []time.Duration
		want   time.Duration
	}{
		"none":               {nil, 0},
		"one":                {[]time.Duration{time.Minute}, time.Minute},
		"the shortest last":  {[]time.Duration{time.Minute, time.Second}, time.Second},
		"the shortest first": {[]time.Duration{time.Second, time.Minute}, time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var after pace.After
			for _, delay := range test.delays {
				after.AtMost(delay)
			}
			if got := after.Result().RequeueAfter; got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}
