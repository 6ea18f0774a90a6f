// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"testing"
	"time"
)

// TestAges: a disagreement keeps its age while it is seen, for any detail; a disagreement of a later version is another
// one; and the longest one is known after its end.
func TestAges(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := func(of, detail string) Disagreement {
		return Disagreement{Plane: "cell/dfw", Object: "Pod a", Problem: "is not Ready", Of: of, Detail: detail}
	}
	other := Disagreement{Plane: "hub", Object: "Work b", Problem: leftover}
	steps := []struct {
		found   []Disagreement
		want    []time.Duration
		longest time.Duration
	}{
		{found: []Disagreement{pod("1", "starting")}, want: []time.Duration{0}},
		{found: []Disagreement{other, pod("1", "crashing")}, want: []time.Duration{5 * time.Second, 0}, longest: 5 * time.Second},
		{found: []Disagreement{other, pod("2", "starting")}, want: []time.Duration{5 * time.Second, 0}, longest: 10 * time.Second},
		{longest: 10 * time.Second},
		{found: []Disagreement{other}, want: []time.Duration{0}, longest: 10 * time.Second},
	}
	var l ledger
	for i, step := range steps {
		standing := l.update(begin.Add(time.Duration(i)*5*time.Second), step.found)
		if len(standing) != len(step.want) {
			t.Fatalf("step %d: %v", i, standing)
		}
		for j, want := range step.want {
			if standing[j].Age != want {
				t.Errorf("step %d: %v, not %s", i, standing[j], want)
			}
		}
		if l.longest.Age != step.longest {
			t.Errorf("step %d: the longest is %v, not %s", i, l.longest, step.longest)
		}
	}
}

func TestPercentile(t *testing.T) {
	var latencies []time.Duration
	for i := range 200 {
		latencies = append(latencies, time.Duration(200-i)*time.Millisecond)
	}
	if got := percentile(latencies, 99); got != 199*time.Millisecond {
		t.Errorf("99 %% take up to %s", got)
	}
	if got := percentile(nil, 99); got != 0 {
		t.Errorf("99 %% of nothing take up to %s", got)
	}
}
