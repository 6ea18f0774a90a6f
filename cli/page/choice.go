// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/cli/view"
)

// Query is the part of the state that a page shows.
type Query struct {
	// Workload is shown in detail; "": none.
	Workload string
	// Name, City and Level select Workloads: by a part of their name, by a city that they have a deployment in, and by their
	// level. "" selects all.
	Name, City, Level string
}

// Sums are how many Workloads of a namespace have each level.
type Sums struct {
	Broken  int `json:"broken,omitempty"`
	Rolling int `json:"rolling,omitempty"`
	Well    int `json:"well,omitempty"`
}

func (s *Sums) add(level view.Level) {
	switch level {
	case view.LevelBroken:
		s.Broken++
	case view.LevelRolling:
		s.Rolling++
	default:
		s.Well++
	}
}

// Show fills in Workloads of the namespace, which are in the order of their names: of the ones that the query selects,
// broken and then rolling ones first, as many as a browser should show. The sums are of all.
func (s *State) Show(all []view.Overview, q Query) {
	var selected []view.Overview
	for i := range all {
		s.Sums.add(all[i].Level)
		if q.selects(&all[i]) {
			selected = append(selected, all[i])
		}
	}
	s.Cities = view.Standings(all, MostStandings)

	slices.SortStableFunc(selected, func(a, b view.Overview) int { return cmp.Compare(urgency(a.Level), urgency(b.Level)) })
	shown := min(len(selected), MostWorkloads)
	s.Workloads, s.Omitted = selected[:shown], len(selected)-shown
}

func (q Query) selects(o *view.Overview) bool {
	return strings.Contains(o.Name, strings.ToLower(q.Name)) && (q.City == "" || slices.Contains(o.Cities, q.City)) &&
		(q.Level == "" || string(o.Level) == q.Level)
}

// urgency is the place of a level in the table.
func urgency(level view.Level) int {
	return slices.Index([]view.Level{view.LevelBroken, view.LevelRolling, view.LevelWell}, level)
}
