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
	many, others := slices.Repeat([]string{"large"}, 100), slices.Repeat([]string{"other"}, 100)
	for name, test := range map[string]struct {
		waiting map[string][]string
		count   int
		want    map[string]int
	}{
		"nothing waits":           {nil, 10, map[string]int{}},
		"no capacity":             {map[string][]string{"a": many}, 0, map[string]int{}},
		"one party":               {map[string][]string{"a": many}, 10, map[string]int{"large": 10}},
		"a small one beside it":   {map[string][]string{"a": many, "b": {"small", "small"}}, 10, map[string]int{"large": 8, "small": 2}},
		"two large ones":          {map[string][]string{"a": many, "b": others}, 10, map[string]int{"large": 5, "other": 5}},
		"fewer things than turns": {map[string][]string{"a": {"small"}}, 10, map[string]int{"small": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]int{}
			for _, thing := range fair.Turns(test.waiting, test.count) {
				got[thing]++
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("taken are %v, want %v", got, test.want)
			}
		})
	}
}
