// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo/quota"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// asks is the claim of an Instance of one CPU and one GiB.
var asks = requestsFor(v1alpha.QuotaSize{VCPUs: 1000, Memory: 1024})

// in returns a claim in a state, for the Instance at an index.
func in(s state, index int) claimed {
	c := claimed{
		claim: &quota.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: claimName("web", index), UID: types.UID(fmt.Sprint(index))}}, state: s,
	}
	if s == denied {
		c.reason, c.message = v1alpha.ReasonQuotaExceeded, "Milo says no"
	}
	return c
}

// holding returns an outdated claim that holds some CPU.
func holding(index int, vcpus int64) claimed {
	c := in(outdated, index)
	c.holds = map[string]int64{quota.ResourceTypeInstances: 1, quota.ResourceTypeVCPUs: vcpus, quota.ResourceTypeMemory: 1024}
	return c
}

// left returns a budget of 10 Instances of each resource, of which this many are left.
func left(instances int64) *budget {
	return &budget{readable: true, buckets: map[string]quota.AllowanceBucketStatus{
		quota.ResourceTypeInstances: {Limit: 10, Available: instances},
		quota.ResourceTypeVCPUs:     {Limit: 10000, Available: 1000 * instances},
		quota.ResourceTypeMemory:    {Limit: 10240, Available: 1024 * instances},
	}}
}

func set(indices ...int) map[int]bool {
	result := map[int]bool{}
	for _, index := range indices {
		result[index] = true
	}
	return result
}

func TestMakePlan(t *testing.T) {
	exceeded := denial{v1alpha.ReasonQuotaExceeded, "earlier"}
	tests := map[string]struct {
		wanted  []int
		claims  map[int]claimed
		busy    bool
		revoked bool
		started map[int]bool
		rolled  map[int]bool
		ordered bool
		denials map[int]denial
		waiting bool
		budget  *budget
		// want lists the granted, removed, created, pending and denied indices.
		want string
		// wantMessage is part of the message of the denials.
		wantMessage string
	}{
		"nothing is wanted":           {want: "[] [] [] [] []"},
		"nothing is claimed yet":      {wanted: []int{0, 1}, budget: left(5), want: "[] [] [0 1] [] []"},
		"what Milo leaves unanswered": {wanted: []int{0}, claims: map[int]claimed{0: in(pending, 0)}, want: "[] [] [] [0] []"},
		"what is granted": {
			wanted: []int{0, 1}, claims: map[int]claimed{0: in(granted, 0), 1: in(granted, 1)}, want: "[0 1] [] [] [] []",
		},
		"more than is left": {
			wanted: []int{0, 1, 2}, budget: left(2), want: "[] [] [0 1] [] [2]", wantMessage: "instances: an Instance needs 1, 0 of 10 are left",
		},
		"more than claims that wait": {
			wanted: []int{0, 1, 2}, claims: map[int]claimed{0: in(pending, 0)}, budget: left(2), want: "[] [] [1] [0] [2]",
		},
		"Milo does not say what is": {wanted: []int{0, 1}, budget: &budget{}, want: "[] [] [0 1] [] []"},
		"no bucket: one finds out":  {wanted: []int{0, 1}, budget: &budget{readable: true}, want: "[] [] [0] [] []"},
		"no bucket: one is asked": {
			wanted: []int{0, 1}, claims: map[int]claimed{0: in(pending, 0)}, budget: &budget{readable: true}, want: "[] [] [] [0] []",
		},
		"no bucket, but a grant": {
			wanted: []int{0, 1, 2}, claims: map[int]claimed{0: in(granted, 0)}, budget: &budget{readable: true}, want: "[0] [] [1 2] [] []",
		},
		"no bucket: it is denied": {
			wanted: []int{0, 1}, claims: map[int]claimed{0: in(denied, 0)}, budget: &budget{readable: true},
			want: "[] [0] [] [] [0 1]", wantMessage: "the project is granted none",
		},
		"it is denied": {
			wanted: []int{0}, claims: map[int]claimed{0: in(denied, 0)}, budget: left(0), want: "[] [0] [] [] [0]",
			wantMessage: "vcpus: an Instance needs 1000 thousandths of a CPU, 0 of 10000 are left",
		},
		"denied, and nobody says why": {
			wanted: []int{0}, claims: map[int]claimed{0: in(denied, 0)}, budget: &budget{}, want: "[] [0] [] [] [0]", wantMessage: "Milo says no",
		},
		"it was denied a moment ago": {
			wanted: []int{0}, denials: map[int]denial{0: exceeded}, waiting: true, want: "[] [] [] [] [0]", wantMessage: "earlier",
		},
		"it is time to claim again": {wanted: []int{0}, denials: map[int]denial{0: exceeded}, budget: left(1), want: "[] [] [0] [] []"},
		"again, and nothing is left": {
			wanted: []int{0}, denials: map[int]denial{0: exceeded}, budget: left(0), want: "[] [] [] [] [0]", wantMessage: "0 of 10 are left",
		},
		"claimed again": {
			wanted: []int{0}, claims: map[int]claimed{0: in(pending, 0)}, denials: map[int]denial{0: exceeded},
			want: "[] [] [] [0] [0]", wantMessage: "earlier",
		},
		"a claim that is being deleted": {wanted: []int{0}, claims: map[int]claimed{0: in(ending, 0)}, want: "[] [] [] [] []"},
		"scaled down, and it runs":      {claims: map[int]claimed{1: in(granted, 1)}, busy: true, want: "[1] [] [] [] []"},
		"scaled down, and its claim could not be deleted": {
			claims: map[int]claimed{1: in(granted, 1)}, busy: true, revoked: true, want: "[] [] [] [] []",
		},
		"scaled down, and it is gone":  {claims: map[int]claimed{1: in(granted, 1)}, want: "[] [1] [] [] []"},
		"scaled down before an answer": {claims: map[int]claimed{1: in(pending, 1)}, busy: true, want: "[] [1] [] [] []"},
		"an Instance shrinks": {
			wanted: []int{0}, claims: map[int]claimed{0: holding(0, 2000)}, started: set(0), want: "[0] [] [] [] []",
		},
		"an Instance has shrunk": {
			wanted: []int{0}, claims: map[int]claimed{0: holding(0, 2000)}, started: set(0), rolled: set(0), want: "[] [0] [] [] []",
		},
		"one is to grow, and may": {
			wanted: []int{0}, claims: map[int]claimed{0: holding(0, 500)}, started: set(0), budget: left(1), want: "[] [0] [] [] []",
		},
		"two are to grow, one may": {
			wanted: []int{0, 1}, claims: map[int]claimed{0: holding(0, 0), 1: holding(1, 0)}, started: set(0, 1),
			budget: left(1), want: "[] [0] [] [] [1]",
		},
		"one is to grow, and may not": {
			wanted: []int{0}, claims: map[int]claimed{0: holding(0, 500)}, started: set(0), budget: left(0),
			want: "[] [] [] [] [0]", wantMessage: "vcpus: an Instance needs 1000 thousandths of a CPU, 0 of 10000 are left",
		},
		"a claim of another size, and nothing runs": {wanted: []int{0}, claims: map[int]claimed{0: holding(0, 500)}, want: "[] [0] [] [] []"},
		"a claim that somebody changed": {
			wanted: []int{0}, claims: map[int]claimed{0: in(outdated, 0)}, started: set(0), want: "[] [0] [] [] []",
		},
		"a higher one gives way": {
			wanted: []int{0, 1, 2}, claims: map[int]claimed{0: in(denied, 0), 1: in(granted, 1), 2: in(granted, 2)}, ordered: true, budget: left(0),
			want: "[1] [0 2] [] [] [0 2]",
		},
		"in parallel none gives way": {
			wanted: []int{0, 1}, claims: map[int]claimed{0: in(denied, 0), 1: in(granted, 1)}, budget: left(0), want: "[1] [0] [] [] [0]",
		},
		"one that runs does not give way": {
			wanted: []int{0, 1}, claims: map[int]claimed{0: in(denied, 0), 1: in(granted, 1)}, ordered: true, started: set(1),
			budget: left(0), want: "[1] [0] [] [] [0]",
		},
		"to one that runs none gives way": {
			wanted: []int{0, 1}, claims: map[int]claimed{0: in(denied, 0), 1: in(granted, 1)}, ordered: true, started: set(0),
			budget: left(0), want: "[1] [0] [] [] [0]",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var current []int
			if !test.revoked {
				current = slices.Collect(maps.Keys(test.claims))
			}
			p := makePlan(&situation{
				current: current, wanted: test.wanted, requests: asks, claims: test.claims, busy: func(int) bool { return test.busy },
				started: test.started, rolled: test.rolled, cell: func(int) string { return "dfw" }, ordered: test.ordered,
				denials: test.denials, due: !test.waiting, budget: func() *budget { return test.budget },
			})
			var removed []string
			for _, claim := range p.remove {
				removed = append(removed, string(claim.UID))
			}
			slices.Sort(removed)
			got := fmt.Sprint(append([]int{}, p.granted...), append([]string{}, removed...), append([]int{}, p.create...),
				append([]int{}, p.pending...), slices.Sorted(maps.Keys(p.denials)))
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			for index, why := range p.denials {
				if !strings.Contains(why.message, test.wantMessage) || why.reason == "" {
					t.Errorf("%d is denied because %+v", index, why)
				}
			}
		})
	}
}

func TestWithheld(t *testing.T) {
	a, b := denial{"A", "m"}, denial{"B", "m"}
	got := withheld(map[int]denial{4: a, 0: b, 1: a, 2: a})
	if len(got) != 2 || got[0].Reason != "B" || got[1].Reason != "A" || !slices.Equal(naming.OfRanges(got[1].Indices), []int{1, 2, 4}) {
		t.Errorf("got %+v", got)
	}
	many := map[int]denial{}
	for i := range 100 {
		many[i] = denial{"A", fmt.Sprint(i)}
	}
	got = withheld(many)
	if len(got) != 20 || len(naming.OfRanges(got[19].Indices)) != 81 {
		t.Errorf("%d entries, the last is %+v", len(got), got[len(got)-1])
	}
}

func TestWantedIndices(t *testing.T) {
	cell := func(name string, indices ...int) v1alpha.CellAssignment {
		return v1alpha.CellAssignment{Name: name, Indices: naming.Ranges(indices)}
	}
	scaling := func(name string, least int32, indices ...int) v1alpha.CellAssignment {
		result := cell(name, indices...)
		result.MinReplicas = &least
		return result
	}
	tests := map[string]struct {
		assignment *v1alpha.WorkloadDeploymentAssignment
		replicas   int32
		reported   []string
		want       []int
	}{
		"nothing is assigned": {nil, 2, nil, nil},
		"one cell": {
			&v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{cell("a", 0, 1)}}, 2, nil, []int{0, 1},
		},
		"two cells": {
			&v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{cell("a", 0, 4), cell("b", 1)}}, 3, nil, []int{0, 1, 4},
		},
		"room for an autoscaler": {
			&v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{scaling("a", 2, 0, 1, 2, 3)}}, 2, nil, []int{0, 1},
		},
		"an autoscaler has used it": {
			&v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{scaling("a", 2, 0, 1, 2, 3)}}, 2,
			[]string{"web-0", "web-2"},
			[]int{0, 1, 2},
		},
		"autoscalers in two cells": {
			&v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{scaling("a", 1, 0, 2, 3), scaling("b", 1, 1, 4)}}, 2, nil, []int{
				0, 1,
			},
		},
		"what it reports is not ours": {
			&v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{cell("a", 0)}}, 1, []string{"web-7"}, []int{0},
		},
		"fewer than are to be divided": {&v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{cell("a", 0)}}, 3, nil, []int{0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
			copied.Spec.Assignment, copied.Spec.ScaleSettings.MinReplicas = test.assignment, test.replicas
			var reported []wire.Instance
			for _, name := range test.reported {
				reported = append(reported, wire.Instance{Name: name})
			}
			planes.SetReport(t, copied, "a", reported...)
			facts := wire.FactsOf(copied)
			got := wantedIndices(copied.Spec.Assignment, func(index int) bool { _, exists := facts[index]; return exists })
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestMayRun(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha.WorkloadDeployment)
		want   bool
	}{
		"the newest report does not have it": {func(*v1alpha.WorkloadDeployment) {}, false},
		"the report is of an earlier copy":   {func(d *v1alpha.WorkloadDeployment) { d.Generation = 4 }, true},
		"it is reported": {func(d *v1alpha.WorkloadDeployment) {
			planes.SetReport(t, d, "a", wire.Instance{Name: "web-1"})
		}, true},
		"a cell has not given it up": {func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{
				Cells: []v1alpha.CellAssignment{{Name: "a", Releasing: naming.Ranges([]int{1})}},
			}
		}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 3}}
			copied.Status.ObservedGeneration = 3
			test.change(copied)
			if got := mayRun(copied, wire.FactsOf(copied), 1); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
