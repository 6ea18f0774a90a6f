// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// maxRecorded is how many cities the record of a placement has at most.
const maxRecorded = 48

// spread is the record of a placement with candidates, and what it follows from.
type spread struct {
	*Plan
	placement *v1alpha.WorkloadPlacement
	choice    cities.Choice
	// candidates are in their order of preference.
	candidates []string
	record     []v1alpha.PlacementCity
	// byHand has the decisions of the consumer. Wrong items have no meaning.
	byHand cities.ByHand
	// isFirst: no choice is recorded yet.
	isFirst bool
	// moved: a city has another phase, and returning: one gets its Instances again. notes are the Events of that.
	moved, returning bool
	notes            []Event
}

// choose decides which candidates the placements of the Workload run in. A choice is stored in the status of the Workload, with its version
// as precondition, before anything follows from it. It reports whether it is stored.
func (p *Plan) choose() bool {
	write, returning := Write{Kind: Choose, Chosen: map[string][]v1alpha.PlacementCity{}}, false
	for i := range p.Workload.Spec.Placements {
		placement := &p.Workload.Spec.Placements[i]
		if placement.Spread == nil {
			continue
		}
		stored := p.Workload.Status.RecordOf(placement.Name)
		s := &spread{
			Plan: p, placement: placement, choice: cities.Choose(placement, p.Locations), isFirst: len(stored) == 0,
			returning: returning,
		}
		s.byHand, _ = cities.ParseByHand(p.Workload.Annotations)
		s.candidates = s.choice.Candidates(placement, p.Locations)
		for j := range stored {
			s.record = append(s.record, *stored[j].DeepCopy())
		}
		s.edit()
		s.failover()
		returning, p.TakesStep = s.returning, p.TakesStep || s.moved
		write.Notes = append(write.Notes, s.notes...)
		if !equality.Semantic.DeepEqual(stored, s.record) {
			write.Chosen[placement.Name] = s.record
		}
	}
	if len(write.Chosen) == 0 {
		return true
	}
	p.Writes = append(p.Writes, write)
	return false
}

// SameChoice reports whether two versions of a Workload have recorded the same choice among candidates.
func SameChoice(a, b *v1alpha.Workload) bool {
	return !slices.ContainsFunc(a.Spec.Placements, func(p v1alpha.WorkloadPlacement) bool {
		return !equality.Semantic.DeepEqual(a.Status.RecordOf(p.Name), b.Status.RecordOf(p.Name))
	})
}

// Into gives a status the choice of a write.
func (w *Write) Into(status *v1alpha.WorkloadStatus) {
	for _, name := range slices.Sorted(maps.Keys(w.Chosen)) {
		at := slices.IndexFunc(status.Placements, func(s v1alpha.WorkloadPlacementStatus) bool { return s.Name == name })
		if at < 0 {
			at = len(status.Placements)
			status.Placements = append(status.Placements, v1alpha.WorkloadPlacementStatus{Name: name})
		}
		status.Placements[at].Cities = w.Chosen[name]
	}
}

// edit follows the candidates of the placement and their number. A recorded city stays while it is a candidate, or while the
// candidates are not all known.
func (s *spread) edit() {
	if !s.choice.Unresolved {
		s.record = slices.DeleteFunc(s.record, func(c v1alpha.PlacementCity) bool { return !slices.Contains(s.candidates, c.City) })
	}
	for s.countRunning() > int(s.placement.Spread.Cities) {
		s.drop(s.surplus())
	}
	for s.countRunning() < int(s.placement.Spread.Cities) && len(s.record) < maxRecorded {
		city := s.free()
		if city == "" {
			break
		}
		s.run(city)
		s.adopt(city)
	}
	// What is left has no substitute: the Instances run in as many cities as the placement asks for.
	s.record = slices.DeleteFunc(s.record, func(c v1alpha.PlacementCity) bool {
		return c.Phase != v1alpha.CityRunning && !s.isRunning(c.ReplacedBy)
	})
}

func (s *spread) countRunning() (count int) {
	for i := range s.record {
		if s.record[i].Phase == v1alpha.CityRunning {
			count++
		}
	}
	return count
}

// surplus is the running city that the placement can miss most: one whose Instances are not Available, then the least preferred one.
func (s *spread) surplus() string {
	var result string
	for _, city := range s.running() {
		if result == "" || knownAvailable(s.deploymentIn(city)) == 0 || knownAvailable(s.deploymentIn(result)) > 0 {
			result = city
		}
	}
	return result
}

// running are the running cities in their order of preference. Cities that are not known to be candidates are last.
func (s *spread) running() []string {
	var result []string
	for _, c := range s.record {
		if c.Phase == v1alpha.CityRunning {
			result = append(result, c.City)
		}
	}
	slices.SortStableFunc(result, func(a, b string) int { return s.preference(a) - s.preference(b) })
	return result
}

func (s *spread) preference(city string) int {
	if at := slices.Index(s.candidates, city); at >= 0 {
		return at
	}
	return len(s.candidates)
}

// free is the next city to run in; "": no candidate is left that the project may use. The first choice of a Workload that runs already
// keeps what runs.
func (s *spread) free() string {
	best, least := "", 0
	for _, city := range s.candidates {
		if !slices.Contains(s.choice.Cities, city) || s.isRunning(city) {
			continue
		}
		weight := 0
		if s.cause(city) != "" {
			// It would be replaced soon.
			weight = 2
		}
		if d := s.deploymentIn(city); s.isFirst && (d == nil || !d.DeletionTimestamp.IsZero()) {
			weight++
		}
		if best == "" || weight < least {
			best, least = city, weight
		}
	}
	return best
}

func (s *spread) isRunning(city string) bool {
	c := s.find(city)
	return c != nil && c.Phase == v1alpha.CityRunning
}

// find returns the recorded city; nil: it is not recorded.
func (s *spread) find(city string) *v1alpha.PlacementCity {
	at := slices.IndexFunc(s.record, func(c v1alpha.PlacementCity) bool { return c.City == city })
	if at < 0 {
		return nil
	}
	return &s.record[at]
}

// run records that the placement runs in a city.
func (s *spread) run(city string) {
	chosen := v1alpha.PlacementCity{City: city, Phase: v1alpha.CityRunning}
	if c := s.find(city); c != nil {
		*c = chosen
		return
	}
	s.record = append(s.record, chosen)
}

func (s *spread) drop(city string) {
	s.record = slices.DeleteFunc(s.record, func(c v1alpha.PlacementCity) bool { return c.City == city })
}

// deploymentIn returns the deployment of the placement in a city; nil: it does not exist.
func (s *spread) deploymentIn(city string) *v1alpha.WorkloadDeployment {
	d := s.deployments[naming.DeploymentName(s.Workload.Name, s.placement.Name, city)]
	if d == nil || !strings.EqualFold(d.Spec.CityCode, city) {
		return nil
	}
	return d
}
