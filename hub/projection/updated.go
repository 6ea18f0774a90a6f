// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"maps"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// addUpdated adds to status the Instances of each cell and how many have the newest template. Rollouts depend on both.
// The state of an Instance whose path is broken is unknown: it is not Available. No count is higher than the count that
// includes it.
func (s *facts) addUpdated(status *v1alpha.WorkloadDeploymentStatus) error {
	version, err := templates.VersionOf(&s.deployment.Spec.Template)
	if err != nil {
		return err
	}
	facts := wire.FactsOf(s.copied)
	cells := map[string]*indicesOf{}
	for _, index := range slices.Sorted(maps.Keys(facts)) {
		fact := facts[index]
		indices := cells[fact.Cell]
		if indices == nil {
			indices = &indicesOf{}
			cells[fact.Cell] = indices
		}
		available := fact.Available && !s.isUnknown(index)
		indices.add(index, fact, available)
		if version.Is(fact.TemplateHash) {
			status.UpdatedReplicas++
			if available {
				status.UpdatedAvailableReplicas++
			}
		}
	}
	status.UpdatedReplicas = min(status.UpdatedReplicas, status.Replicas)
	status.UpdatedAvailableReplicas = min(status.UpdatedAvailableReplicas, status.UpdatedReplicas, status.AvailableReplicas)
	for i := range s.copied.Status.Indices {
		// A cell without Instances is listed as well: it has reported.
		cell := &s.copied.Status.Indices[i]
		indices := cells[cell.Cell]
		if indices == nil {
			indices = &indicesOf{}
		}
		status.Indices = append(status.Indices, indices.format(cell, version.Current(cell.TemplateHash)))
	}
	return nil
}

// isUnknown reports whether the path from the cell of an Instance is broken.
func (s *facts) isUnknown(index int) bool {
	found := s.findingAt(index)
	return found != nil && found.Slice == ""
}

// indicesOf holds the indices of the Instances of one cell by their state.
type indicesOf struct{ existing, available, held, current []int }

func (i *indicesOf) add(index int, fact wire.Facts, available bool) {
	i.existing = append(i.existing, index)
	if available {
		i.available = append(i.available, index)
	}
	if fact.Held {
		i.held = append(i.held, index)
	}
	if fact.TemplateHash != "" {
		i.current = append(i.current, index)
	}
}

// format returns the indices of a cell, whose newest template has a hash.
func (i *indicesOf) format(cell *v1alpha.CellIndices, hash string) v1alpha.CellIndices {
	result := v1alpha.CellIndices{
		Cell: cell.Cell, TemplateHash: hash, Existing: naming.Format(i.existing),
		AvailableIndices: naming.Format(i.available), Held: naming.Format(i.held), Current: naming.Format(i.current),
	}
	if overridden := i.among(cell.Overridden); len(overridden) > 0 && cell.OverriddenHash != "" {
		result.Overridden, result.OverriddenHash = naming.Format(overridden), cell.OverriddenHash
	}
	return result
}

// among returns the indices of a list that Instances of the cell have.
func (i *indicesOf) among(list string) []int {
	listed := naming.ParseSet(list)
	return slices.DeleteFunc(slices.Clone(i.existing), func(index int) bool { return !listed.Has(index) })
}
