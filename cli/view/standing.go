// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Standing is the state of a city in one word.
type Standing string

// Standings of cities.
const (
	// StandingNoCell is the standing of a city that no cell serves.
	StandingNoCell Standing = "no cell"
	// StandingSilent is the standing of a city whose cells do not report.
	StandingSilent Standing = "silent"
	// StandingDrained is the standing of a city whose cells take no new Instance.
	StandingDrained Standing = "drained"
	StandingBroken  Standing = Standing(LevelBroken)
	StandingRolling Standing = Standing(LevelRolling)
	StandingWell    Standing = Standing(LevelWell)
)

// gravity has the standings, the most serious one first.
var gravity = []Standing{StandingNoCell, StandingSilent, StandingDrained, StandingBroken, StandingRolling, StandingWell}

// standings are the reasons that are about cells, and not about what runs there.
var standings = map[string]Standing{
	v1alpha.ReasonNoMatchingLocation: StandingNoCell,
	v1alpha.ReasonCellNotReady:       StandingSilent, v1alpha.ReasonAgentNotReady: StandingSilent, v1alpha.ReasonAgentMissing: StandingSilent,
	v1alpha.ReasonAgentAPIMissing: StandingSilent, v1alpha.ReasonNoReport: StandingSilent, v1alpha.ReasonReportOutdated: StandingSilent,
	v1alpha.ReasonKarmadaNotRunning: StandingSilent,
	v1alpha.ReasonCellsTainted:      StandingDrained, v1alpha.ReasonNodesCordoned: StandingDrained,
}

// standingOf returns the standing of a deployment or a cell: by its finding, which may be nil, or else by its level.
func standingOf(finding *Finding, level Level) Standing {
	if finding != nil && standings[finding.Reason] != "" {
		return standings[finding.Reason]
	}
	return Standing(level)
}

func compareGravity(a, b Standing) int {
	return cmp.Compare(slices.Index(gravity, a), slices.Index(gravity, b))
}

// CityStanding is the standing of a city, and how many Workloads need attention there.
type CityStanding struct {
	Name     string   `json:"name"`
	Standing Standing `json:"standing"`
	Broken   int      `json:"broken,omitempty"`
	Rolling  int      `json:"rolling,omitempty"`
	// ReplacedBy are the cities that run Instances of this one instead. The Workloads do not count.
	ReplacedBy string `json:"replacedBy,omitempty"`
}

// Standings returns the cities of Workloads by name, each with the most serious standing of its deployments: of many
// cities the most serious ones.
func Standings(all []Overview, most int) []CityStanding {
	found := map[string]*CityStanding{}
	at := func(name string, standing Standing) *CityStanding {
		if found[name] == nil {
			found[name] = &CityStanding{Name: name, Standing: standing}
		}
		found[name].Standing = slices.MinFunc([]Standing{found[name].Standing, standing}, compareGravity)
		return found[name]
	}
	for i := range all {
		worst := map[string]Standing{}
		for _, d := range all[i].Deployments {
			if d.ReplacedBy != "" {
				at(d.City, d.Standing).runsIn(d.ReplacedBy)
				continue
			}
			if known := worst[d.City]; known == "" || compareGravity(d.Standing, known) < 0 {
				worst[d.City] = d.Standing
			}
		}
		for name, standing := range worst {
			at(name, standing).count(standing)
		}
	}
	result := make([]CityStanding, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		result = append(result, *found[name])
	}
	return mostSerious(result, most, func(c *CityStanding) (Standing, string) { return c.Standing, c.Name })
}

// MostSerious returns so many of the cities of a hub, the most serious ones, by name.
func MostSerious(cities []City, most int) []City {
	return mostSerious(cities, most, func(c *City) (Standing, string) { return c.Standing, c.Name })
}

func mostSerious[T any](all []T, most int, of func(*T) (Standing, string)) []T {
	chosen := slices.SortedStableFunc(slices.Values(all), func(a, b T) int {
		former, _ := of(&a)
		latter, _ := of(&b)
		return compareGravity(former, latter)
	})
	chosen = chosen[:min(len(chosen), most)]
	slices.SortFunc(chosen, func(a, b T) int {
		_, former := of(&a)
		_, latter := of(&b)
		return cmp.Compare(former, latter)
	})
	return chosen
}

// runsIn adds a city that runs Instances of this one.
func (c *CityStanding) runsIn(city string) {
	all := append(strings.Fields(strings.ReplaceAll(c.ReplacedBy, ",", " ")), city)
	slices.Sort(all)
	c.ReplacedBy = strings.Join(slices.Compact(all), ", ")
}

func (c *CityStanding) count(standing Standing) {
	switch standing {
	case StandingRolling:
		c.Rolling++
	case StandingWell:
	default:
		c.Broken++
	}
}

// setStandings sets the standings of the cities of a hub. While no replica runs, no report of a cell arrives.
func (f *Federation) setStandings() {
	runs := slices.ContainsFunc(f.Replicas, func(r Replica) bool { return r.Running })
	for i := range f.Cities {
		city := &f.Cities[i]
		var ofCells []Standing
		for j := range f.Cells {
			if cell := &f.Cells[j]; cell.City == city.Name {
				ofCells = append(ofCells, cell.standing())
			}
		}
		switch {
		case city.Cells == 0 || len(ofCells) == 0:
			city.Standing = StandingNoCell
		case !runs:
			city.Standing = StandingSilent
		default:
			city.Standing = city.standing(ofCells)
		}
	}
}

// standing returns the standing of a city with cells. A cell that is silent or drained is a fault of the city, unless no
// other cell serves it.
func (c *City) standing(ofCells []Standing) Standing {
	best := slices.MaxFunc(ofCells, compareGravity)
	switch {
	case compareGravity(best, StandingBroken) < 0:
		return slices.MinFunc(ofCells, compareGravity)
	case slices.ContainsFunc(ofCells, func(s Standing) bool { return compareGravity(s, StandingRolling) < 0 }):
		return StandingBroken
	case c.Ready < c.Desired:
		return StandingRolling
	}
	return StandingWell
}

func (c *Cell) standing() Standing {
	if c.Finding == nil && c.Tainted {
		return StandingDrained
	}
	return standingOf(c.Finding, levelOf(c.Finding, 0, 0))
}
