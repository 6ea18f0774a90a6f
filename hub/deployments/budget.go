// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// shares is the division of the Workload's disruption budget among its deployments, in the order of names.
type shares struct {
	names   []string
	members []budget.Member
	// desired is how many Instances should exist, and minimum how many of them must stay Available during voluntary
	// disruptions.
	desired, minimum int32
}

// divideBudget divides the disruption budget among the deployments. The plan is stored in the status of the Workload,
// with its version as precondition, before a deployment gets a floor of it: of two replicas, only one lowers a floor.
func (s *scope) divideBudget(ctx context.Context) error {
	if s.workload.Spec.Disruption == nil {
		return s.confirmNoBudget(ctx)
	}
	s.countBudget()
	stored := s.workload.Status.Disruption
	var sequence int64
	if stored != nil {
		sequence = stored.Sequence
	}
	divided := budget.Divide(budget.Division{
		Minimum: s.shares.minimum, Sequence: sequence, Step: budget.Step(), Members: s.shares.members,
	})
	next := &v1alpha.WorkloadDisruptionStatus{MinAvailable: s.shares.minimum, Sequence: divided.Sequence}
	for i, name := range s.shares.names {
		s.shares.members[i].Floor = &divided.Floors[i]
		next.Floors = append(next.Floors, v1alpha.DeploymentFloor{Deployment: name, AvailabilityFloor: divided.Floors[i]})
	}
	if !equality.Semantic.DeepEqual(stored, next) {
		// The event of this write requeues the Workload. Then the plan is stored, and the deployments get their floors.
		s.workload.Status.Disruption, s.rewritten = next, true
		return apply.Status(ctx, s.client, FieldManager, s.workload)
	}
	for _, desired := range s.plan.deployments {
		if floor := s.workload.Status.Disruption.FloorOf(desired.Name); floor != nil {
			desired.Spec.Floor = &v1alpha.AvailabilityFloor{MinAvailable: floor.MinAvailable, Sequence: floor.Sequence}
		}
	}
	return nil
}

// confirmNoBudget reads the Workload past the cache before floors are removed: a replica that has not seen the budget
// yet must not.
func (s *scope) confirmNoBudget(ctx context.Context) error {
	if !slices.ContainsFunc(slices.Collect(maps.Values(s.existing)), func(d *v1alpha.WorkloadDeployment) bool { return d.Spec.Floor != nil }) {
		return nil
	}
	fresh := &v1alpha.Workload{}
	if err := s.project.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(s.workload), fresh); err != nil {
		return fmt.Errorf("get the Workload before its floors are removed: %w", err)
	}
	// The event of a newer Workload requeues it when the cache has it.
	s.rewritten = fresh.UID != s.workload.UID || fresh.Generation != s.workload.Generation
	return nil
}

// countBudget collects the members of the budget: the desired deployments of the Workload, and the deployments being
// removed.
func (s *scope) countBudget() {
	s.shares = shares{}
	wanted := map[string]*v1alpha.WorkloadDeployment{}
	names := slices.Collect(maps.Keys(s.existing))
	for _, desired := range s.plan.deployments {
		wanted[desired.Name] = desired
		if s.existing[desired.Name] == nil {
			names = append(names, desired.Name)
		}
		s.shares.desired += rollout.Desired(&desired.Spec.ScaleSettings, s.existing[desired.Name])
	}
	slices.Sort(names)
	for _, name := range names {
		existing := s.existing[name]
		if existing != nil && !existing.DeletionTimestamp.IsZero() {
			// No finalizer holds it back any more: its Instances do not count.
			continue
		}
		member := budget.Member{Floor: s.workload.Status.Disruption.FloorOf(name), Leaving: wanted[name] == nil}
		if existing != nil {
			status := &existing.Status
			member.Sequence, member.InForce, member.Awaiting = status.FloorSequence, status.FloorInForce, status.AwaitingDisruption
			member.Available = rollout.Available(existing)
			// A deployment whose template waits for another reason is not removed.
			member.Leaving = member.Leaving && !s.plan.wants(existing)
			member.Settled = s.isSettled(existing, wanted[name], member.Available)
		}
		s.shares.names, s.shares.members = append(s.shares.names, name), append(s.shares.members, member)
	}
	s.shares.minimum = budget.Minimum(s.workload.Spec.Disruption, s.shares.desired)
}

// isSettled reports whether all Instances of a deployment are Available, and no rollout replaces any. While a rollout
// is paused, its city does not keep the tokens of the others.
func (s *scope) isSettled(existing, desired *v1alpha.WorkloadDeployment, available int32) bool {
	if desired == nil || existing.Status.ObservedGeneration != existing.Generation ||
		available < rollout.Desired(&desired.Spec.ScaleSettings, existing) {
		return false
	}
	return s.rolling.result.Phase == rollout.Paused ||
		existing.Spec.Partition == nil && desired.Spec.Partition == nil && existing.Spec.Surge == 0 && desired.Spec.Surge == 0
}

// knownBudget returns the disruption budget for the rollout.
func (s *scope) knownBudget() *rollout.Budget {
	if s.workload.Spec.Disruption == nil {
		return nil
	}
	s.countBudget()
	known := &rollout.Budget{Minimum: s.shares.minimum, Available: map[string]int32{}}
	for i, name := range s.shares.names {
		known.Available[name] = s.shares.members[i].Available
	}
	return known
}

// newestFloor keeps the floor of a deployment if it is newer than the wanted one: the plan then comes from a stale
// cache.
func newestFloor(existing, desired *v1alpha.WorkloadDeployment) {
	if desired.Spec.Floor != nil {
		desired.Spec.Floor = budget.Newest(existing.Spec.Floor, desired.Spec.Floor).DeepCopy()
	}
}

// mayRemove reports whether the budget allows the removal of a surplus deployment: the others guarantee the minimum,
// and the stored plan does not count on it.
func (s *scope) mayRemove(existing *v1alpha.WorkloadDeployment) bool {
	if s.workload.Spec.Disruption == nil || existing.Status.AvailableReplicas == 0 {
		return true
	}
	floor := s.workload.Status.Disruption.FloorOf(existing.Name)
	return floor != nil && floor.MinAvailable == 0
}

// addBudget sets condition DisruptionBudget in status.
func (s *scope) addBudget(status *v1alpha.WorkloadStatus) {
	if s.workload.Spec.Disruption == nil {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionDisruptionBudget)
		return
	}
	status.Disruption = s.workload.Status.Disruption
	condition := s.budgetCondition()
	condition.ObservedGeneration = status.ObservedGeneration
	condition.LastTransitionTime = metav1.NewTime(s.Clock.Now()).Rfc3339Copy()
	meta.SetStatusCondition(&status.Conditions, condition)
}

func (s *scope) budgetCondition() metav1.Condition {
	minimum, desired, inForce := s.shares.minimum, s.shares.desired, budget.InForce(s.shares.members)
	condition := metav1.Condition{
		Type: v1alpha.ConditionDisruptionBudget, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonBudgetInForce,
		Message: fmt.Sprintf("voluntary disruptions leave at least %d of %d Instances Available", minimum, desired),
	}
	switch {
	case inForce < minimum:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha.ReasonBudgetNotConfirmed
		condition.Message = fmt.Sprintf("voluntary disruptions leave %d of %d Instances Available, and the budget asks for %d: %s",
			inForce, desired, minimum, s.unconfirmed())
	case minimum >= desired && desired > 0:
		condition.Reason = v1alpha.ReasonNoDisruptionAllowed
		condition.Message = fmt.Sprintf("the budget needs all %d Instances: drains and evictions are refused; "+
			"set minAvailable below the number of Instances, or maxUnavailable above 0", desired)
	case inForce == budget.Everything && minimum > 0:
		condition.Reason = v1alpha.ReasonNoDisruptionAllowed
		condition.Message = fmt.Sprintf("no more than %d Instances may be missed, and too few are Available: drains and evictions wait "+
			"until others recover", desired-minimum)
	}
	return condition
}

// unconfirmed returns the names of the deployments that do not act on their newest floor.
func (s *scope) unconfirmed() string {
	var waiting []string
	for i, name := range s.shares.names {
		if m := &s.shares.members[i]; m.Sequence != m.Floor.Sequence || m.InForce < min(m.Floor.MinAvailable, m.Available) {
			waiting = append(waiting, name)
		}
	}
	if len(waiting) == 0 {
		return "too few Instances are Available"
	}
	more := ""
	if len(waiting) > mostCities {
		more = fmt.Sprintf(" and %d more", len(waiting)-mostCities)
		waiting = waiting[:mostCities]
	}
	return "waiting for the cells of deployments " + strings.Join(waiting, ", ") + more
}
