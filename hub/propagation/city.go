// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"slices"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/policies"
)

// loadCells reads the hub's Clusters.
func (s *scope) loadCells(ctx context.Context) error {
	var err error
	if s.allCells, err = cells.List(ctx, s.Hub); err != nil {
		return err
	}
	s.cells = s.allCells.Of(s.deployment.Spec.CityCode)
	return nil
}

// city returns the inputs of the city's policy. A cell is released when it has not been Ready for FailoverAfter and
// another one is Ready: otherwise its Instances could not run elsewhere. The deployment is requeued for when the next
// cell may have to be released.
func (s *scope) city() policies.City {
	city := policies.City{Code: s.deployment.Spec.CityCode}
	for _, cell := range s.cells {
		city.Cells = append(city.Cells, cell.Name)
	}
	for _, cell := range s.allCells.GoneOf(s.deployment.Spec.CityCode) {
		// Karmada would choose it by its label.
		city.Lost = append(city.Lost, cell.Name)
	}
	// Objects that Karmada propagates there would be deleted with the earlier namespace.
	city.Lost = append(city.Lost, s.owing...)
	if s.FailoverAfter <= 0 || !s.cells.AnyReady() {
		return city
	}
	for _, cell := range s.cells {
		if cell.Ready || slices.Contains(s.owing, cell.Name) {
			continue
		}
		if rest := cell.Since.Add(s.FailoverAfter).Sub(s.Clock.Now()); rest > 0 {
			s.requeueAfter.AtMost(rest)
		} else {
			city.Lost = append(city.Lost, cell.Name)
		}
	}
	return city
}
