// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"maps"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// spread holds the candidates of a placement.
type spread struct {
	*v1alpha.WorkloadPlacement
	record []v1alpha.PlacementCity
	// candidates are upper case. open: there may be others, since the locations of the project are not known.
	candidates []string
	open       bool
}

// spreads holds the placements of a Workload, and the decisions of its consumer.
type spreads struct {
	all    []*spread
	byHand cities.ByHand
}

// readSpreads returns the placements of a Workload. Decisions that are not valid are left out, and replaced by the next one.
func readSpreads(ctx context.Context, s *command.Session, w *v1alpha.Workload) *spreads {
	locations, _ := view.ReadLocations(ctx, s.Project.Client)
	result := &spreads{}
	result.byHand, _ = cities.ParseByHand(w.Annotations)
	for i := range w.Spec.Placements {
		placement := &w.Spec.Placements[i]
		choice := cities.Choose(placement, locations)
		p := &spread{
			WorkloadPlacement: placement, record: w.Status.RecordOf(placement.Name),
			candidates: choice.Candidates(placement, locations), open: choice.Unresolved,
		}
		for _, c := range p.record {
			if !slices.Contains(p.candidates, c.City) {
				p.candidates = append(p.candidates, c.City)
			}
		}
		result.all = append(result.all, p)
	}
	return result
}

// placementOf returns the placement that has a city; nil: it does not exist.
func (s *spreads) placementOf(city string) *spread {
	for _, p := range s.all {
		if slices.Contains(p.candidates, city) {
			return p
		}
	}
	return nil
}

// candidates returns the candidates of all placements with failover for which include holds.
func (s *spreads) candidates(include func(p *spread, city string) bool) (result []string) {
	for _, p := range s.all {
		for _, city := range p.candidates {
			if p.failsOver() && include(p, city) {
				result = append(result, city)
			}
		}
	}
	return result
}

// absent returns the cities that were replaced, and the ones that the Workload leaves.
func (s *spreads) absent() []string {
	result := slices.AppendSeq(s.candidates((*spread).isReplaced), maps.Keys(s.byHand.Leave))
	slices.Sort(result)
	return slices.Compact(result)
}

func (p *spread) failsOver() bool { return p.Spread != nil && p.Spread.Failover != nil }

// find returns the recorded city; without a phase, it is not recorded.
func (p *spread) find(city string) (found v1alpha.PlacementCity) {
	for _, c := range p.record {
		if c.City == city {
			found = c
		}
	}
	return found
}

// runs reports whether the Instances are to run in a city. One that was replaced may still have some.
func (p *spread) runs(city string) bool {
	phase := p.find(city).Phase
	return phase == v1alpha.CityRunning || phase == v1alpha.CityReturning
}

func (p *spread) isFree(city string) bool { return !p.runs(city) }

func (p *spread) isReplaced(city string) bool { return p.find(city).Phase != "" && !p.runs(city) }

// citiesOfWorkload completes cities of the Workload that the first argument names.
func citiesOfWorkload(choose func(*spreads) []string) command.Values {
	return func(ctx context.Context, s *command.Session, args []string) []string {
		w := &v1alpha.Workload{}
		if s.Project == nil || len(args) == 0 || s.Project.Client.Get(ctx, s.Key(command.Bare(args[0])), w) != nil {
			return nil
		}
		return choose(readSpreads(ctx, s, w))
	}
}
