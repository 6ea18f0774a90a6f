// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// rolloutState is the state of the rollout as the deployments have it, and these in the order of its cities.
func (s *scope) rolloutState(ctx context.Context) (rollout.State, []*v1alpha.WorkloadDeployment, error) {
	spec := s.workload.Spec.Rollout
	state := rollout.State{Target: s.rolling.target, CitiesAtOnce: 1, Paused: s.rolling.blocked}
	if before := s.workload.Status.Rollout; before != nil {
		state.Proven = before.CompleteTemplateHash == state.Target
	}
	total, byName := 0, map[string]*v1alpha.WorkloadDeployment{}
	for _, desired := range s.plan.deployments {
		existing := s.existing[desired.Name]
		if existing == nil || !sameDeployment(existing, desired) || !existing.DeletionTimestamp.IsZero() {
			continue
		}
		city, err := s.cityOf(ctx, existing, desired)
		if err != nil {
			return state, nil, err
		}
		total += city.Desired
		byName[city.Name] = existing
		state.Cities = append(state.Cities, city)
	}
	s.readSlack(&state)
	state.MaxUnavailable, state.Batch = spec.Unavailable(total), spec.BatchOf(total)
	state.MaxSurge = rollout.SurgeSingle
	if most, explicit := spec.Surge(total); explicit {
		state.MaxSurge = most
	}
	state.PauseAfter, state.PauseAfterFirst = spec.PauseAfterOf(total)
	state.Resumed = s.workload.Annotations[v1alpha.AnnotationRolloutResumed] == s.rolling.written || s.rolling.target != s.rolling.written
	var order []string
	if spec != nil {
		order, state.Paused = spec.CityOrder, state.Paused || spec.Paused
		state.CitiesAtOnce = int(ptr.Deref(spec.CitiesAtOnce, 1))
	}
	rollout.Sort(state.Cities, order)
	cities := make([]*v1alpha.WorkloadDeployment, len(state.Cities))
	for i := range state.Cities {
		cities[i] = byName[state.Cities[i].Name]
	}
	return state, cities, nil
}

// cityOf returns the state of a city from its deployment.
func (s *scope) cityOf(ctx context.Context, existing, desired *v1alpha.WorkloadDeployment) (rollout.City, error) {
	status, code := &existing.Status, naming.CityLabel(existing.Spec.CityCode)
	version, err := templates.VersionOf(&existing.Spec.Template)
	if err != nil {
		return rollout.City{}, err
	}
	city := rollout.City{
		Name: existing.Name, Code: cmp.Or(existing.Spec.CityCode, code), Template: version.Hash,
		Observed: status.ObservedGeneration == existing.Generation,
		Desired:  int(max(desired.Spec.DesiredReplicas(), reportedDesired(existing))), Cells: len(status.Indices),
		Ordered:  desired.Spec.ScaleSettings.InstanceManagementPolicy != v1alpha.Parallel,
		Grows:    desired.Spec.ScaleSettings.MinReplicas > existing.Spec.ScaleSettings.MinReplicas,
		Unserved: isUnserved(existing), Unreachable: meta.IsStatusConditionFalse(status.Conditions, v1alpha.ConditionStatusCurrent),
	}
	if p := existing.Spec.Partition; p != nil {
		stable, err := templates.Hash(&p.Template)
		if err != nil {
			return city, err
		}
		city.Partition = &rollout.Partition{Index: int(p.Index), Template: stable}
	}
	for i := range status.Indices {
		s.addCell(&city, &status.Indices[i], version.Is(status.Indices[i].TemplateHash))
	}
	slices.SortFunc(city.Instances, func(a, b rollout.Instance) int { return cmp.Compare(a.Index, b.Index) })
	city.Missing = max(0, int(status.AssignedReplicas)-len(city.Instances))
	return city, s.addSurge(ctx, &city, existing, desired)
}

// addCell adds the Instances of a cell. newest: it reports on the newest template of the deployment. An index that
// another cell reports for the same Instance is not in the status: hub/projection leaves it out.
func (s *scope) addCell(city *rollout.City, cell *v1alpha.CellIndices, newest bool) {
	existing, available, held := naming.Parse(cell.Existing), naming.Parse(cell.AvailableIndices), naming.Parse(cell.Held)
	var current []int
	if newest {
		current = naming.Parse(cell.Current)
	}
	in := func(indices []int, index int) bool {
		_, found := slices.BinarySearch(indices, index)
		return found
	}
	for _, index := range existing {
		city.Instances = append(city.Instances, rollout.Instance{
			Index: index, Updated: in(current, index), Available: in(available, index), Held: in(held, index),
		})
	}
	switch {
	case len(existing) == 0:
	case city.Ordered:
		city.Room++
	default:
		city.Room += s.workload.Spec.Rollout.Unavailable(len(existing))
	}
}

// reportedDesired returns the number of Instances that an autoscaler wants.
func reportedDesired(existing *v1alpha.WorkloadDeployment) int32 {
	if !existing.Spec.Autoscaled() {
		return 0
	}
	return existing.Status.AssignedReplicas
}

// isUnserved reports whether no cell serves the city of a deployment, and none has reported Instances.
func isUnserved(existing *v1alpha.WorkloadDeployment) bool {
	available := meta.FindStatusCondition(existing.Status.Conditions, v1alpha.ConditionAvailable)
	return len(existing.Status.Indices) == 0 && available != nil && available.Reason == v1alpha.ReasonNoMatchingLocation
}
