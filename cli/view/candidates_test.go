// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// replaced is Workload web, which names candidates DFW and LAX, and runs in one of them. The cells of DFW are not reached.
func replaced(phase v1alpha.PlacementCityPhase, since *metav1.Time) *Snapshot {
	w := workload(1, 1, condition(v1alpha.ConditionAvailable, "True", v1alpha.ReasonAvailablePlacementFound, ""))
	w.Spec.Placements[0].CityCodes = []string{"DFW", "LAX"}
	w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: 1, Failover: &v1alpha.PlacementFailover{}}
	dfw := v1alpha.PlacementCity{City: "DFW", Phase: phase, Since: since, ReplacedBy: "LAX"}
	w.Status.Placements = []v1alpha.WorkloadPlacementStatus{{Name: "main", Cities: []v1alpha.PlacementCity{
		{City: "LAX", Phase: v1alpha.CityRunning}, dfw,
	}, Conditions: w.Status.Conditions}}
	lost := deployment("DFW", 0, 1, condition(v1alpha.ConditionStatusCurrent, "False", v1alpha.ReasonCellNotReady, "no cell is reached"))
	serves := deployment("LAX", 1, 1, condition(v1alpha.ConditionReplicasReady, "True", v1alpha.ReasonAllReplicasReady, ""))
	s := &Snapshot{
		Name: "web", Workload: w, Now: changed.Add(time.Minute), Deployments: []v1alpha.WorkloadDeployment{lost, serves},
		Instances: []v1alpha.Instance{
			instance("DFW", 0, condition(v1alpha.ConditionReady, "Unknown", v1alpha.ReasonCellNotReady, "no cell is reached")),
			instance("LAX", 0, condition(v1alpha.ConditionReady, "True", v1alpha.ReasonAvailable, "")),
		},
	}
	for i := range s.Deployments {
		s.Deployments[i].Spec.PlacementName = "main"
	}
	if phase == v1alpha.CityRunning {
		w.Status.Placements[0].Cities = []v1alpha.PlacementCity{{City: "DFW", Phase: phase, Since: since}}
		s.Deployments, s.Instances = s.Deployments[:1], s.Instances[:1]
	}
	if phase == v1alpha.CityAway {
		s.Deployments, s.Instances = s.Deployments[1:], s.Instances[1:]
	}
	return s
}

// TestCandidates: each view shows the state of a candidate. A city that another one replaces is no fault of the Workload.
func TestCandidates(t *testing.T) {
	since := metav1.NewTime(changed)
	for name, test := range map[string]struct {
		phase v1alpha.PlacementCityPhase
		since *metav1.Time
		// verdict is the reason of the fault that explain finds; "": none.
		verdict string
		// warnings, tree and row are parts of what explain, tree and list show.
		warnings, tree []string
		row            string
		level          Level
	}{
		"lost": {
			phase: v1alpha.CityLost,
			warnings: []string{
				"Placement main (project): CityLost", "DFW: LAX runs its Instances;", "Instance web-main-dfw-0 (project): CellNotReady", "-> operator:",
			},
			tree: []string{"DFW web-main-dfw 0/1 Ready CellNotReady warning: CityLost LAX runs its Instances;"},
			row:  "CityLost", level: LevelWell,
		},
		"it does not return": {
			phase: v1alpha.CityLeaving, warnings: []string{"CityLeaving", "DFW: LAX runs its Instances;"},
			tree: []string{"warning: CityLeaving LAX runs its Instances;"}, row: "CityLeaving", level: LevelWell,
		},
		"without a deployment": {
			phase: v1alpha.CityAway, since: &since,
			warnings: []string{"CityAway", "DFW: LAX runs its Instances; the city gets them again from 2026-05-01T12:10:00Z"},
			tree:     []string{"Workload web", "warning: CityAway DFW: LAX runs its Instances; the city gets them again"},
			row:      "CityAway", level: LevelWell,
		},
		"it is not replaced yet": {
			phase: v1alpha.CityRunning, since: &since, verdict: v1alpha.ReasonCellNotReady,
			warnings: []string{"CityRunning", "DFW: serves nothing since 2026-05-01T12:00:00Z: from 2026-05-01T12:01:00Z on another candidate"},
			tree:     []string{"CellNotReady no cell is reached", "warning: CityRunning DFW: serves nothing since"},
			row:      v1alpha.ReasonCellNotReady, level: LevelBroken,
		},
		"it returns, and cannot start yet": {
			phase: v1alpha.CityReturning, verdict: v1alpha.ReasonCellNotReady,
			warnings: []string{"CityReturning", "DFW: gets its Instances again; the ones in LAX stop"},
			tree:     []string{"warning: CityReturning DFW: gets its Instances again"},
			row:      v1alpha.ReasonCellNotReady, level: LevelBroken,
		},
		"a candidate that is not chosen": {level: LevelWell, row: v1alpha.ReasonAvailablePlacementFound},
	} {
		t.Run(name, func(t *testing.T) {
			s := replaced(test.phase, test.since)
			if test.phase == "" {
				s = replaced(v1alpha.CityAway, nil)
				s.Workload.Status.Placements[0].Cities = s.Workload.Status.Placements[0].Cities[:1]
			}
			ways := s.Ways()
			verdict := ""
			if found := Verdicts(ways); len(found) > 0 {
				verdict = found[0].Stop.Finding.Reason
			}
			if verdict != test.verdict {
				t.Errorf("explain finds %q, want %q", verdict, test.verdict)
			}
			var told []string
			for _, warning := range Warnings(ways) {
				told = append(told, warning.Lines(s.Now, 0)...)
			}
			contains(t, strings.Join(told, "\n"), test.warnings)
			contains(t, strings.Join(strings.Fields(strings.Join(lines(s, Layout{}), "\n")), " "), test.tree)
			o := OverviewOf(s.Workload, s.Deployments, s.Now)
			if o.Reason != test.row || o.Level != test.level {
				t.Errorf("list has %s, %s; want %s, %s", o.Reason, o.Level, test.row, test.level)
			}
		})
	}
}

func contains(t *testing.T, text string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
	if len(parts) == 0 && strings.Contains(text, "City") {
		t.Errorf("nothing happens to a city:\n%s", text)
	}
}

// TestStandingOfAReplacedCity: the row of cities shows that the cells of a lost city are silent, and where its Instances run.
func TestStandingOfAReplacedCity(t *testing.T) {
	lost, other := replaced(v1alpha.CityLost, nil), replaced(v1alpha.CityLost, nil)
	other.Workload.Status.Placements[0].Cities[1].ReplacedBy = "AMS"
	lax := CityStanding{Name: "LAX", Standing: StandingWell}
	dfw := func(by string) CityStanding {
		return CityStanding{Name: "DFW", Standing: StandingSilent, ReplacedBy: by}
	}
	for name, test := range map[string]struct {
		workloads []*Snapshot
		want      []CityStanding
	}{
		"replaced":          {[]*Snapshot{lost}, []CityStanding{dfw("LAX"), lax}},
		"by several cities": {[]*Snapshot{lost, other, lost}, []CityStanding{dfw("AMS, LAX"), lax}},
		"not replaced": {
			[]*Snapshot{replaced(v1alpha.CityRunning, nil)}, []CityStanding{{Name: "DFW", Standing: StandingSilent, Broken: 1}},
		},
	} {
		var all []Overview
		for _, s := range test.workloads {
			all = append(all, OverviewOf(s.Workload, s.Deployments, s.Now))
		}
		if got := Standings(all, 10); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
