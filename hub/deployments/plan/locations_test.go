// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// choose changes the choice of placement main of Workload web.
func (f *fixture) choose(t *testing.T, mutate func(*v1alpha.WorkloadPlacement)) {
	t.Helper()
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Placements[0].CityCodes, w.Spec.Placements[0].Locations, w.Spec.Placements[0].LocationSelector = nil, nil, nil
		mutate(&w.Spec.Placements[0])
	})
}

func inRegion(region string) func(*v1alpha.WorkloadPlacement) {
	return func(p *v1alpha.WorkloadPlacement) {
		p.LocationSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"topology.datum.net/region": region}}
	}
}

func atLocations(names ...string) func(*v1alpha.WorkloadPlacement) {
	return func(p *v1alpha.WorkloadPlacement) {
		for _, name := range names {
			p.Locations = append(p.Locations, v1alpha.PlacementLocation{Name: name})
		}
	}
}

// TestLocationsComeAndGo: each step changes the locations of the project, or the placement's choice among them.
func TestLocationsComeAndGo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	sydney := cities.Location{Name: "syd-1", City: "SYD", Available: true, Topology: map[string]string{"topology.datum.net/region": "us"}}
	unavailable := sydney
	unavailable.Available = false
	for _, step := range []struct {
		what        string
		choose      func(*v1alpha.WorkloadPlacement)
		cities      string
		others      []cities.Location
		want        string
		wantMessage string
	}{
		{"a selector of the same city keeps what runs", inRegion("us"), "DFW", nil, "web-main-dfw", ""},
		{"a location comes", nil, "DFW ORD", nil, "web-main-dfw web-main-ord", ""},
		{
			"one that is not available comes", nil, "DFW ORD",
			[]cities.Location{unavailable},
			"web-main-dfw web-main-ord",
			"location syd-1 in SYD is not available",
		},
		{"it becomes available", nil, "DFW ORD", []cities.Location{sydney}, "web-main-dfw web-main-ord web-main-syd", ""},
		{
			"it is not available any more, and what runs stays", nil, "DFW ORD",
			[]cities.Location{unavailable},
			"web-main-dfw web-main-ord web-main-syd", "location syd-1 in SYD is not available",
		},
		{"a location goes", nil, "DFW", []cities.Location{sydney}, "web-main-dfw web-main-syd", ""},
		{"no location is known, and what runs stays", nil, "", nil, "web-main-dfw web-main-syd", "no location at all"},
		{"locations by their names", atLocations("dfw-1", "ord-1"), "DFW ORD", nil, "web-main-dfw web-main-ord", ""},
		{"one of them is withdrawn, and what runs stays", nil, "DFW", nil, "web-main-dfw web-main-ord", "the project has no location ord-1"},
		{"it is not named any more", atLocations("dfw-1"), "DFW", nil, "web-main-dfw", ""},
		{
			"another location of the city comes, and what runs stays", nil, "DFW",
			[]cities.Location{{Name: "dfw-2", City: "DFW"}},
			"web-main-dfw", "city DFW has location dfw-2 too",
		},
		{"a region that nothing is in", inRegion("ap"), "DFW", nil, "", "no location of the project matches"},
	} {
		f.locations.cities, f.locations.others = step.cities, step.others
		if step.choose != nil {
			f.choose(t, step.choose)
		}
		f.mustReconcile(t)
		f.withdraw(t)
		f.mustReconcile(t)
		if got := f.names(t); got != step.want {
			t.Errorf("%s: deployments %q, want %q", step.what, got, step.want)
		}
		workload := f.readWorkload(t)
		available := meta.FindStatusCondition(workload.Status.Conditions, v1alpha.ConditionAvailable)
		if !strings.Contains(available.Message, step.wantMessage) || step.wantMessage == "" && strings.Contains(available.Message, "location") {
			t.Errorf("%s: the message is %q", step.what, available.Message)
		}
		if writes := f.mustReconcile(t); len(writes) > 0 {
			t.Errorf("%s: it does not settle: %v", step.what, writes)
		}
	}
	if reason := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions,
		v1alpha.ConditionAvailable).Reason; reason != v1alpha.ReasonNoMatchingLocation {
		t.Errorf("the reason is %s", reason)
	}
}

// TestLocationsAreNotServed verifies that without LocationBindings at Milo running deployments remain, for every kind
// of choice, and that the Workload names the missing kind.
func TestLocationsAreNotServed(t *testing.T) {
	t.Parallel()
	for name, choose := range map[string]func(*v1alpha.WorkloadPlacement){
		"cities": func(p *v1alpha.WorkloadPlacement) { p.CityCodes = []string{"DFW"} }, "locations": atLocations("dfw-1"),
		"selector": inRegion("us"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "DFW")
			f.workload(t, "main DFW")
			f.choose(t, choose)
			f.mustReconcile(t)
			f.locations.cities, f.locations.err = "", fmt.Errorf("list them: %w", cities.ErrLocationsNotServed)
			f.mustReconcile(t)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
			if got := f.names(t); got != "web-main-dfw" {
				t.Errorf("there are %q", got)
			}
			placement := f.readWorkload(t).Status.Placements[0]
			available := meta.FindStatusCondition(placement.Conditions, v1alpha.ConditionAvailable)
			if available == nil || !strings.Contains(available.Message, "install their CustomResourceDefinition") {
				t.Errorf("it says %+v", available)
			}
		})
	}
}
