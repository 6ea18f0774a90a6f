// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/hub/fair"
)

// TestTurns: a party with many things delays no other one, and has what the others leave.
func TestTurns(t *testing.T) {
	many := slices.Repeat([]string{"large"}, 100)
	for name, test := range map[string]struct {
		waiting    map[string][]string
		most, each int
		want       map[string]int
	}{
		"nothing waits":            {nil, 10, 10, map[string]int{}},
		"no room":                  {map[string][]string{"a": many}, 0, 10, map[string]int{}},
		"one party":                {map[string][]string{"a": many}, 10, 100, map[string]int{"large": 10}},
		"one party with its bound": {map[string][]string{"a": many}, 10, 5, map[string]int{"large": 5}},
		"a small one beside it":    {map[string][]string{"a": many, "b": {"small", "small"}}, 10, 100, map[string]int{"large": 8, "small": 2}},
		"two large ones":           {map[string][]string{"a": many, "b": slices.Repeat([]string{"other"}, 100)}, 10, 100, map[string]int{"large": 5, "other": 5}},
		"fewer things than turns":  {map[string][]string{"a": {"small"}}, 10, 10, map[string]int{"small": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]int{}
			for _, thing := range fair.Turns(test.waiting, test.most, test.each) {
				got[thing]++
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("taken are %v, want %v", got, test.want)
			}
		})
	}
}
