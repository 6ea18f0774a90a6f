// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	cases := map[string]struct {
		of   []time.Duration
		p    float64
		want time.Duration
	}{
		"none":                    {nil, 50, 0},
		"one":                     {[]time.Duration{7}, 99, 7},
		"lowest":                  {[]time.Duration{7, 8}, 0, 7},
		"highest":                 {[]time.Duration{7, 8}, 100, 8},
		"middle of two":           {[]time.Duration{7, 8}, 50, 7},
		"middle of three":         {[]time.Duration{7, 8, 9}, 50, 8},
		"median of a hundred":     {hundred, 50, 50},
		"90th of a hundred":       {hundred, 90, 90},
		"99th of a hundred":       {hundred, 99, 99},
		"99th of fewer is a real": {hundred[:10], 99, 10},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := percentile(c.of, c.p); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	s := &samples{}
	if got := s.summary(); got != (summary{}) {
		t.Errorf("of nothing: %+v", got)
	}
	s.add(3*time.Second, time.Second)
	s.add(2 * time.Second)
	want := summary{count: 3, p50: 2 * time.Second, p90: 3 * time.Second, p99: 3 * time.Second, mean: 2 * time.Second}
	if got := s.summary(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
