// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
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

// divide divides the disruption budget among the deployments. The division is stored in the status of the Workload, with its
// version as precondition, before a deployment gets a floor of it: of two replicas, only one lowers a floor. It reports whether
// it is stored.
func (p *Plan) divide() bool {
	if p.Workload.Spec.Disruption == nil {
		return true
	}
	p.countBudget()
	stored := p.Workload.Status.Disruption
	var sequence int64
	if stored != nil {
		sequence = stored.Sequence
	}
	divided := budget.Divide(budget.Division{Minimum: p.shares.minimum, Sequence: sequence, Step: budget.Step(), Members: p.shares.members})
	next := &v1alpha.WorkloadDisruptionStatus{MinAvailable: p.shares.minimum, Sequence: divided.Sequence}
	for i, name := range p.shares.names {
		p.shares.members[i].Floor = &divided.Floors[i]
		next.Floors = append(next.Floors, v1alpha.DeploymentFloor{Deployment: name, AvailabilityFloor: divided.Floors[i]})
	}
	if !equality.Semantic.DeepEqual(stored, next) {
		p.Writes = append(p.Writes, Write{Kind: Divide, Division: next})
		return false
	}
	for _, i := range p.intents {
		if floor := stored.FloorOf(i.name); floor != nil {
			i.floor = &v1alpha.AvailabilityFloor{MinAvailable: floor.MinAvailable, Sequence: floor.Sequence}
		}
	}
	return true
}

// countBudget collects the members of the budget: the deployments that the Workload wants, and the ones that are removed.
func (p *Plan) countBudget() {
	p.shares = shares{}
	wanted := map[string]*intent{}
	names := slices.Collect(maps.Keys(p.deployments))
	for _, i := range p.intents {
		wanted[i.name] = i
		if p.deployments[i.name] == nil {
			names = append(names, i.name)
		}
		if isCounted(i.phase) {
			p.shares.desired += rollout.Desired(&i.placement.ScaleSettings, p.deployments[i.name])
		}
	}
	slices.Sort(names)
	for _, name := range names {
		existing := p.deployments[name]
		if existing != nil && !existing.DeletionTimestamp.IsZero() {
			// No finalizer holds it back any more: its Instances do not count.
			continue
		}
		member := budget.Member{Floor: p.Workload.Status.Disruption.FloorOf(name), Leaving: wanted[name] == nil}
		if existing != nil {
			status := &existing.Status
			member.Sequence, member.InForce, member.Awaiting = status.FloorSequence, status.FloorInForce, status.AwaitingDisruption
			member.Available = rollout.Available(existing)
			// A deployment whose template waits for another reason is not removed.
			member.Leaving = member.Leaving && !p.wants(existing) || isReplacedIn(p.phaseOf(existing))
			member.Settled = p.isComplete(existing, wanted[name], member.Available)
		}
		p.shares.names, p.shares.members = append(p.shares.names, name), append(p.shares.members, member)
	}
	p.shares.minimum = budget.Minimum(p.Workload.Spec.Disruption, p.shares.desired)
}

// isComplete reports whether all Instances of a deployment are Available, and no rollout replaces any. While a rollout
// is paused, its city does not keep the tokens of the others.
func (p *Plan) isComplete(existing *v1alpha.WorkloadDeployment, i *intent, available int32) bool {
	if i == nil || existing.Status.ObservedGeneration != existing.Generation ||
		available < rollout.Desired(&i.placement.ScaleSettings, existing) {
		return false
	}
	return p.rolling.result.Phase == rollout.Paused ||
		existing.Spec.Partition == nil && i.given.partition == nil && existing.Spec.Surge == 0 && i.given.surge == 0
}

// knownBudget returns the disruption budget for the rollout.
func (p *Plan) knownBudget() *rollout.Budget {
	if p.Workload.Spec.Disruption == nil {
		return nil
	}
	p.countBudget()
	known := &rollout.Budget{Minimum: p.shares.minimum, Available: map[string]int32{}}
	for i, name := range p.shares.names {
		known.Available[name] = p.shares.members[i].Available
	}
	return known
}

// mayRemove reports whether the budget allows the removal of a surplus deployment: the others guarantee the minimum,
// and the stored plan does not count on it.
func (p *Plan) mayRemove(existing *v1alpha.WorkloadDeployment) bool {
	if !p.Workload.DeletionTimestamp.IsZero() || p.Workload.Spec.Disruption == nil || existing.Status.AvailableReplicas == 0 {
		return true
	}
	floor := p.Workload.Status.Disruption.FloorOf(existing.Name)
	return floor != nil && floor.MinAvailable == 0
}

// addBudget sets condition DisruptionBudget in status.
func (s *summary) addBudget(status *v1alpha.WorkloadStatus) {
	if s.Workload.Spec.Disruption == nil {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionDisruptionBudget)
		return
	}
	status.Disruption = s.Workload.Status.Disruption
	condition := s.budgetCondition()
	condition.ObservedGeneration = status.ObservedGeneration
	condition.LastTransitionTime = metav1.NewTime(s.Now).Rfc3339Copy()
	meta.SetStatusCondition(&status.Conditions, condition)
}

func (s *summary) budgetCondition() metav1.Condition {
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
func (s *summary) unconfirmed() string {
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
