// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestResult: remaining disagreements are an error, and so are failed requests that no fault excuses.
func TestResult(t *testing.T) {
	left := []Standing{{Disagreement{Plane: "hub", Object: "Work a", Problem: leftover}, 200 * time.Second}}
	failures := []error{errors.New("refused")}
	tests := map[string]struct {
		result Result
		want   []string
	}{
		"settled":            {result: Result{Settled: time.Second}},
		"an excused failure": {result: Result{Settled: time.Second, Failures: failures, Excused: excuses("replica/1")}},
		"a failure": {
			result: Result{Settled: time.Second, Failures: failures, Excused: excuses("agent/dfw")}, want: []string{"1 requests", "refused"},
		},
		"Milo was down":       {result: Result{Settled: time.Second, Failures: append(failures, failures...), Excused: excuses("milo")}},
		"something left":      {result: Result{Left: left}, want: []string{"in 1 places", "200s  hub: Work a should not exist"}},
		"both":                {result: Result{Left: left, Failures: failures}, want: []string{"refused", "Work a"}},
		"a broken promise":    {result: Result{Settled: time.Second, Broken: []string{"no name"}}, want: []string{"seed 0: no name"}},
		"not settled in time": {result: Result{}, want: []string{"in 0 places"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.result.Err()
			if (err != nil) != (len(test.want) > 0) {
				t.Fatalf("error is %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
		})
	}
}
