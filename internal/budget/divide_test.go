// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// with is a member that works with this floor and has so many Available Instances.
func with(floor, available int32) Member {
	return Member{Floor: &v1alpha.AvailabilityFloor{MinAvailable: floor, Sequence: 1}, Sequence: 1, Available: available, InForce: Everything}
}

func changed(m Member, change func(*Member)) Member {
	change(&m)
	return m
}

func TestDivide(t *testing.T) {
	awaits := func(m *Member) { m.Awaiting = m.Available }
	settled := func(floor, available int32) Member {
		return changed(with(floor, available), func(m *Member) { m.Settled = true })
	}
	for name, test := range map[string]struct {
		minimum int32
		members []Member
		want    []int32
	}{
		"new":                                   {5, []Member{{Available: 3}, {Available: 4}}, []int32{Everything, Everything}},
		"all are Available":                     {5, []Member{with(Everything, 3), with(Everything, 4)}, []int32{2, 3}},
		"settled":                               {5, []Member{with(2, 3), with(3, 4)}, []int32{2, 3}},
		"an Instance of the slack fails":        {5, []Member{with(2, 2), with(3, 4)}, []int32{2, 3}},
		"one more fails":                        {5, []Member{with(2, 1), with(3, 4)}, []int32{2, 4}},
		"too many fail":                         {5, []Member{with(2, 0), with(3, 4)}, []int32{Everything, Everything}},
		"a higher minimum":                      {6, []Member{with(2, 3), with(3, 4)}, []int32{2, 4}},
		"a lower minimum":                       {3, []Member{with(2, 3), with(3, 4)}, []int32{1, 2}},
		"one awaits, first the other is raised": {6, []Member{with(2, 3), changed(with(4, 4), awaits)}, []int32{3, 4}},
		"then its own is lowered":               {6, []Member{with(3, 3), changed(with(4, 4), awaits)}, []int32{3, 3}},
		"a silent one keeps its tokens": {
			5, []Member{changed(with(1, 3), func(m *Member) { m.Silent = true }), changed(with(4, 4), awaits)}, []int32{1, 4},
		},
		"a lost one counts as 0": {
			5, []Member{changed(with(1, 3), func(m *Member) { m.Lost = true }), with(4, 4)}, []int32{Everything, Everything},
		},
		"a leaving one waits": {
			3, []Member{changed(with(1, 3), func(m *Member) { m.Leaving = true }), with(2, 4)}, []int32{1, 3},
		},
		"then it leaves": {3, []Member{changed(with(1, 3), func(m *Member) { m.Leaving = true }), with(3, 4)}, []int32{0, 3}},
		"all slack is where an Instance recovered": {5, []Member{settled(2, 4), settled(Everything, 3)}, []int32{3, Everything}},
		"then the other one gets its half":         {5, []Member{settled(3, 4), settled(Everything, 3)}, []int32{3, 2}},
		"it moves to the second as well":           {5, []Member{settled(Everything, 4), settled(1, 3)}, []int32{Everything, 2}},
		"three of four, evenly to within one": {
			15, []Member{settled(2, 5), settled(5, 5), settled(5, 5), settled(4, 4)}, []int32{4, 4, 5, 4},
		},
		"who has one more keeps it":                 {5, []Member{settled(3, 4), settled(2, 4)}, []int32{3, 2}},
		"no more than its Available Instances":      {2, []Member{settled(1, 1), settled(1, 8)}, []int32{1, 2}},
		"one that misses an Instance keeps its own": {5, []Member{with(2, 4), settled(3, 3)}, []int32{2, 3}},
		"nothing is levelled while one awaits": {
			6, []Member{settled(1, 4), settled(3, 3), changed(with(2, 3), func(m *Member) { m.Awaiting = 1 })}, []int32{1, 3, 2},
		},
		"a report of another hub's floor": {5, []Member{changed(with(2, 3), func(m *Member) { m.Sequence = 9 }), with(3, 4)}, []int32{2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			result := Divide(Division{Minimum: test.minimum, Sequence: 1, Step: 1, Members: test.members})
			var got []int32
			for i := range result.Floors {
				got = append(got, result.Floors[i].MinAvailable)
				if m := &test.members[i]; m.foreign() && result.Floors[i].Sequence <= m.Sequence {
					t.Errorf("member %d gets sequence %d", i, result.Floors[i].Sequence)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("floors %v, want %v", got, test.want)
			}
		})
	}
}

// TestInventedSequences: whatever sequence a member reports, its report is answered once, and no floor of another
// member changes.
func TestInventedSequences(t *testing.T) {
	for _, invented := range []int64{9, 1 << 40, MaxSequence - 1, MaxSequence, MaxSequence + 1, 1<<53 - 1, math.MaxInt64, -1, math.MinInt64} {
		for name, change := range map[string]func(*Member){
			"present": func(*Member) {}, "lost": func(m *Member) { m.Lost = true }, "silent": func(m *Member) { m.Silent = true },
			"leaving": func(m *Member) { m.Leaving = true }, "new": func(m *Member) { m.Floor = nil },
		} {
			division := Division{Minimum: 5, Sequence: 1, Step: 1 << 16, Members: []Member{changed(with(2, 3), change), with(3, 4)}}
			division.Members[0].Sequence = invented
			rounds := 0
			for ; rounds < 4; rounds++ {
				divided := Divide(division)
				if highest := divided.Floors[1].Sequence; highest > 1<<20 {
					t.Errorf("%d, %s: the other member has sequence %d", invented, name, highest)
				}
				if !divided.Changed {
					break
				}
				division.Sequence = divided.Sequence
				for i := range division.Members {
					division.Members[i].Floor = &divided.Floors[i]
				}
				// The other member confirms, and the first one repeats its report.
				division.Members[1].Sequence = divided.Floors[1].Sequence
			}
			if rounds == 4 {
				t.Errorf("%d, %s: the floors change forever: %+v", invented, name, division.Members[0].Floor)
			}
			if issued := division.Members[0].issued(); issued >= 1<<53 {
				t.Errorf("%d, %s: sequence %d is no number in Lua", invented, name, issued)
			}
		}
	}
}

func TestMinimum(t *testing.T) {
	of := func(text string) *intstr.IntOrString { return new(intstr.Parse(text)) }
	for _, test := range []struct {
		least, most   *intstr.IntOrString
		desired, want int32
	}{
		{of("5"), nil, 7, 5},
		{of("9"), nil, 7, 7},
		{of("80%"), nil, 7, 6},
		{of("100%"), nil, 7, 7},
		{nil, of("25%"), 7, 5},
		{nil, of("1"), 7, 6},
		{nil, of("9"), 7, 0},
		{nil, of("0"), 7, 7},
		{nil, nil, 7, 0},
	} {
		if got := Minimum(&v1alpha.WorkloadDisruption{MinAvailable: test.least, MaxUnavailable: test.most}, test.desired); got != test.want {
			t.Errorf("%v, %v of %d: %d, want %d", test.least, test.most, test.desired, got, test.want)
		}
	}
	if got := Minimum(nil, 7); got != 0 {
		t.Errorf("without a budget: %d", got)
	}
}
