// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"maps"
	"slices"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/bindings"
)

// assignment is the next assignment of the copy. existing is the present copy, or an empty one.
func (s *scope) assignment(ctx context.Context, existing *v1alpha.WorkloadDeployment) (*v1alpha.WorkloadDeploymentAssignment, error) {
	binding, err := bindings.Get(ctx, s.Hub, types.NamespacedName{Namespace: s.hubNamespace, Name: s.deployment.Name})
	if err != nil {
		return nil, err
	}
	shares := s.shares(binding)
	if shares == nil {
		// Nothing is decided: everything stays as it is.
		if existing.Spec.Assignment == nil {
			return &v1alpha.WorkloadDeploymentAssignment{}, nil
		}
		return existing.Spec.Assignment, nil
	}
	return assign(division{
		current: existing.Spec.Assignment, shares: shares, alone: s.alone(existing.Spec.Assignment, shares),
		runs: func(cell string, index int) bool { return bindings.MayRun(binding, existing, cell, index) },
		gone: func(cell string) bool { return !s.allCells.Ready(cell) || !bindings.Reports(binding, cell) },
	}), nil
}

// alone says whether the city has one cell, and no other cell may still run Instances of an earlier assignment.
func (s *scope) alone(current *v1alpha.WorkloadDeploymentAssignment, shares map[string]int) bool {
	if len(s.cells) != 1 {
		return false
	}
	others := maps.Clone(shares)
	delete(others, s.cells[0].Name)
	if current == nil {
		return len(others) == 0
	}
	return len(others) == 0 && !slices.ContainsFunc(current.Cells, func(c v1alpha.CellAssignment) bool { return c.Name != s.cells[0].Name })
}

// shares are how many Instances each cell is to run, or nil when that is not decided. The only cell of a city gets all of
// them, without a decision of Karmada's scheduler.
func (s *scope) shares(binding *workv1alpha2.ResourceBinding) map[string]int {
	var scheduled []workv1alpha2.TargetCluster
	if binding != nil {
		scheduled = binding.Spec.Clusters
	}
	if len(s.cells) == 1 {
		only := s.cells[0].Name
		if len(scheduled) == 0 || len(scheduled) == 1 && scheduled[0].Name == only {
			return map[string]int{only: s.mostReplicas()}
		}
	}
	if len(scheduled) == 0 {
		return nil
	}
	shares := map[string]int{}
	for _, target := range scheduled {
		shares[target.Name] = int(target.Replicas)
	}
	return shares
}

// mostReplicas is how many Instances an autoscaler in the cell may ask for.
func (s *scope) mostReplicas() int {
	scale := &s.deployment.Spec.ScaleSettings
	if scale.MaxReplicas != nil && len(scale.Metrics) > 0 {
		return int(max(scale.MinReplicas, *scale.MaxReplicas))
	}
	return int(s.deployment.Spec.DesiredReplicas())
}
