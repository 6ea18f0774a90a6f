// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// cause is why a city should be replaced; "": nothing is known of it that needs that.
func (s *spread) cause(city string) v1alpha.PlacementCityReason {
	switch {
	case s.Cities == nil || s.placement.Spread.Failover == nil:
		return ""
	case s.isLeft(city):
		return v1alpha.CityLeftByHand
	case s.isDown(city):
		return v1alpha.CityServesNothing
	case s.placement.Spread.Overflow != nil && s.isFull(city):
		return v1alpha.CityNoCapacity
	}
	return ""
}

// isLeft reports whether the consumer wants no Instance in a city.
func (s *spread) isLeft(city string) bool {
	_, left := s.byHand.Leave[city]
	return left
}

// isFull reports whether Instances of a city are not Available because its cells lack the capacity.
func (s *spread) isFull(city string) bool {
	d := s.deploymentIn(city)
	if d == nil || s.Held[city] || s.Cities[city] != cells.Able || s.serves(city) {
		return false
	}
	return slices.ContainsFunc(d.Status.Conditions, func(c metav1.Condition) bool {
		return c.Status != metav1.ConditionTrue && slices.Contains(lackCapacity, c.Reason)
	})
}

// lackCapacity are the reasons of Instances that wait for capacity of a cell.
var lackCapacity = []string{v1alpha.ReasonNoCapacity, v1alpha.ReasonUnschedulable, v1alpha.ReasonCellQuotaExceeded}

// isDown reports whether it is certain that a city serves nothing: no Instance is known to be Available, and its cells, or the project's
// right to use it, are the cause. Instances that fail by themselves are no cause: they would fail in another city, too.
func (s *spread) isDown(city string) bool {
	d := s.deploymentIn(city)
	if s.Held[city] || s.placement.ScaleSettings.Zero() || knownAvailable(d) > 0 || d != nil && !d.DeletionTimestamp.IsZero() {
		return false
	}
	switch s.Cities[city] {
	case cells.Lost, cells.Empty, cells.Closed:
		return true
	case cells.Able:
		return slices.Contains(s.choice.Held, city)
	case cells.InDoubt:
	}
	return false
}

// canRun reports whether a city can run Instances of the placement.
func (s *spread) canRun(city string) bool {
	return s.Cities[city] == cells.Able && !s.Held[city] && slices.Contains(s.choice.Cities, city) && !s.isLeft(city)
}

// canReturn reports whether a city that was replaced can run the Instances again.
func (s *spread) canReturn(c *v1alpha.PlacementCity) bool {
	return s.canRun(c.City) && (c.Reason != v1alpha.CityNoCapacity || !s.lacksRoom(c.City))
}

// lacksRoom reports whether the cells of a city are known to lack the free resources for all Instances of the placement there.
func (s *spread) lacksRoom(city string) bool {
	room, known := s.Room[city]
	return known && room < wanted(s.placement, s.deploymentIn(city))
}

// isTold reports whether a city can be told to stop its Instances, or has no cell that runs any. A held city is not told.
func (s *spread) isTold(city string) bool {
	return !s.Held[city] && slices.Contains([]cells.Health{cells.Able, cells.Closed, cells.Empty}, s.Cities[city])
}

// serves reports whether all Instances of the placement in a city are known to be Available.
func (s *spread) serves(city string) bool {
	d := s.deploymentIn(city)
	return s.placement.ScaleSettings.Zero() ||
		d != nil && d.DeletionTimestamp.IsZero() && d.Status.ObservedGeneration == d.Generation && knownAvailable(d) >= wanted(s.placement, d)
}

// offers reports whether clients reach a city at an address.
func (s *spread) offers(city string) bool {
	d := s.deploymentIn(city)
	if d == nil || !d.Spec.Service.Exposed() {
		return false
	}
	_, leaves := leavesSince(d)
	return !leaves && slices.ContainsFunc(d.Status.Endpoints, isServing)
}

// whyDown is the cause of a city that serves nothing.
func (s *spread) whyDown(city string) string {
	switch s.Cities[city] {
	case cells.Lost:
		return "Karmada reaches no cell of it"
	case cells.Closed:
		return "its cells take no Instances"
	case cells.Empty:
		return "it has no cell"
	case cells.Able, cells.InDoubt:
	}
	return "the project may not use it"
}
