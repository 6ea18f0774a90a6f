// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"maps"
	"slices"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
)

// assignment returns the next assignment of the copy. existing is the present copy, or an empty one.
func (s *scope) assignment(
	ctx context.Context, existing *v1alpha.WorkloadDeployment, reports *path.Reports,
) (*v1alpha.WorkloadDeploymentAssignment, error) {
	binding := reports.Binding
	shares := s.shares(binding)
	if s.removed(binding) {
		shares = map[string]int{}
	}
	if shares == nil {
		// Without a decision the assignment does not change.
		if existing.Spec.Assignment == nil {
			return &v1alpha.WorkloadDeploymentAssignment{}, nil
		}
		return s.withoutGone(existing.Spec.Assignment), nil
	}
	leave, err := s.departures(ctx, binding, existing)
	if err != nil {
		return nil, err
	}
	result := assign(division{
		current: existing.Spec.Assignment, shares: s.withRoom(shares), surge: s.surge(existing.Spec.Assignment, shares),
		alone: s.alone(existing.Spec.Assignment, shares),
		runs:  reports.MayRun, released: leave.released, now: s.Clock.Now(),
	})
	if slices.ContainsFunc(result.Cells, func(c v1alpha.CellAssignment) bool { return c.IsLeaving() }) {
		s.requeueAfter.AtMost(leavingRequeue)
	}
	if s.deployment.Spec.Autoscaled() {
		for i := range result.Cells {
			result.Cells[i].MinReplicas = new(int32(shares[result.Cells[i].Name])) //nolint:gosec // there are at most 1000
		}
	}
	return result, nil
}

// withRoom returns the shares with the Instances that autoscalers in the cells may request: each gets an equal part of
// the difference to maxReplicas, so that together they never run more.
func (s *scope) withRoom(shares map[string]int) map[string]int {
	if !s.deployment.Spec.Autoscaled() {
		return shares
	}
	var cells []string
	remaining := int(*s.deployment.Spec.ScaleSettings.MaxReplicas)
	for _, cell := range slices.Sorted(maps.Keys(shares)) {
		remaining -= shares[cell]
		if shares[cell] > 0 {
			cells = append(cells, cell)
		}
	}
	result := maps.Clone(shares)
	for i, cell := range cells {
		part := max(0, remaining) / (len(cells) - i)
		result[cell] += part
		remaining -= part
	}
	return result
}

// withoutGone returns an assignment without the cells that are gone: they run nothing any more, and no cell waits for
// their indices.
func (s *scope) withoutGone(current *v1alpha.WorkloadDeploymentAssignment) *v1alpha.WorkloadDeploymentAssignment {
	result := current.DeepCopy()
	result.Cells = slices.DeleteFunc(result.Cells, func(c v1alpha.CellAssignment) bool { return !s.allCells.Exists(c.Name) })
	return result
}

// alone reports whether the city has one cell, and no other cell may still run Instances of an earlier assignment.
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

// shares returns the desired number of Instances of each cell, or nil if it is undecided. The only cell of a city gets
// all of them, without a decision of Karmada's scheduler.
func (s *scope) shares(binding *workv1alpha2.ResourceBinding) map[string]int {
	var scheduled []workv1alpha2.TargetCluster
	if binding != nil {
		scheduled = binding.Spec.Clusters
	}
	if len(s.cells) == 1 {
		only := s.cells[0].Name
		if len(scheduled) == 0 || len(scheduled) == 1 && scheduled[0].Name == only {
			return map[string]int{only: int(s.deployment.Spec.DesiredReplicas())}
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

// removed reports whether Karmada removes the deployment from all cells: its scheduler has found none. The only cell of a
// city gets its Instances without a decision of the scheduler.
func (s *scope) removed(binding *workv1alpha2.ResourceBinding) bool {
	return binding != nil && len(binding.Spec.Clusters) == 0 && path.Refusal(binding) != "" && len(s.cells) != 1
}
