// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"
	"slices"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
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

// city returns the inputs of the city's policy. A cell is released when it was not reached for FailoverAfter and
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
	s.addLost(&city)
	city.Cordoned = s.cordoned(city.Lost)
	return city
}

// addLost adds the cells that were not reached for too long.
func (s *scope) addLost(city *policies.City) {
	if s.FailoverAfter <= 0 || !s.cells.AnyReady() {
		return
	}
	for _, cell := range s.cells {
		switch remaining, unreached := s.allCells.UntilLost(&cell, s.Clock.Now(), s.FailoverAfter); {
		case !unreached || slices.Contains(s.owing, cell.Name):
		case remaining > 0:
			s.requeueAfter.AtMost(remaining)
		default:
			city.Lost = append(city.Lost, cell.Name)
		}
	}
}

// cordoned returns the cells of which all nodes are cordoned, if another cell of the city is Ready and has a
// schedulable node.
func (s *scope) cordoned(lost []string) []string {
	var cordoned []string
	other := false
	for _, cell := range s.cells {
		switch {
		case slices.Contains(lost, cell.Name):
		case cell.Cordoned:
			cordoned = append(cordoned, cell.Name)
		default:
			other = other || cell.Ready
		}
	}
	if !other {
		return nil
	}
	return cordoned
}

// holdAvoidance takes the cordoned cells out of the city, until Karmada has recorded that the deployments that run
// there belong to the group of all cells. Karmada would move the others out of the cell.
func (s *scope) holdAvoidance(ctx context.Context, city *policies.City) error {
	if len(city.Cordoned) == 0 {
		return nil
	}
	existing := &policyv1alpha1.PropagationPolicy{}
	err := s.Hub.Get(ctx, client.ObjectKeyFromObject(policies.CityPolicy(s.hubNamespace, *city)), existing)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the policy of the city: %w", err)
	}
	if err == nil && policies.Avoids(existing, city.Cordoned) {
		return nil
	}
	var bindings workv1alpha2.ResourceBindingList
	if err := s.Hub.List(ctx, &bindings, client.InNamespace(s.hubNamespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the ResourceBindings of the hub namespace: %w", err)
	}
	if slices.ContainsFunc(bindings.Items, func(b workv1alpha2.ResourceBinding) bool { return wouldMove(&b, city.Cordoned) }) {
		city.Cordoned = nil
		s.requeueAfter.AtMost(blockedRequeue)
	}
	return nil
}

// wouldMove reports whether Karmada would move Instances of a binding out of cells if new deployments were kept out of
// them.
func wouldMove(binding *workv1alpha2.ResourceBinding, cells []string) bool {
	return binding.Spec.Resource.Kind == v1alpha.KindWorkloadDeployment && binding.DeletionTimestamp.IsZero() &&
		binding.Status.SchedulerObservedAffinityName != policies.GroupCity &&
		slices.ContainsFunc(binding.Spec.Clusters, func(target workv1alpha2.TargetCluster) bool { return slices.Contains(cells, target.Name) })
}
