// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/budget"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// tally counts the Instances that condition Available depends on.
type tally struct {
	// wanted is how many Instances the spec wants now, also in cities that have no deployment yet.
	wanted int32
	// available is how many are known to be Available.
	available int32
	// running reports that the spec wants Instances, whether or not a city for them is known.
	running bool
}

func (t *tally) add(other tally) {
	t.wanted += other.wanted
	t.available += other.available
	t.running = t.running || other.running
}

// isAvailable reports whether enough Instances are Available. Instances that are wanted in no city are not.
func (s *summary) isAvailable(t tally) bool {
	return !t.running || t.wanted > 0 && t.available >= s.needed(t)
}

func (s *summary) needed(t tally) int32 {
	return budget.Needed(t.wanted, s.Workload.Spec.Rollout, s.Workload.Spec.Disruption)
}

// describeTally describes too few Available Instances; "": none is Available, and other messages have the cause.
func (s *summary) describeTally(t tally) string {
	if t.available == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s Available, %d must be", t.available, reasons.Count(t.wanted, "Instance is", "Instances are"), s.needed(t))
}

// wanted is how many Instances a placement wants in one city.
func wanted(placement *v1alpha.WorkloadPlacement, deployment *v1alpha.WorkloadDeployment) int32 {
	scale := &placement.ScaleSettings
	if deployment == nil {
		return scale.MinReplicas
	}
	return max(scale.MinReplicas, min(rollout.ReportedDesired(deployment), scale.MostReplicas()))
}

// tallyOf counts the Instances of a placement. Surplus Instances of one city do not make up for another city.
func (s *summary) tallyOf(placement *v1alpha.WorkloadPlacement) tally {
	result := tally{running: !placement.ScaleSettings.Zero()}
	byCity := map[string]*v1alpha.WorkloadDeployment{}
	for _, deployment := range s.deploymentsOf(placement.Name) {
		byCity[naming.CityLabel(deployment.Spec.CityCode)] = deployment
	}
	for key := range s.wanted {
		if key[0] == placement.Name && isCounted(s.phases[key]) {
			count := wanted(placement, byCity[key[1]])
			result.wanted += count
			result.available += min(count, knownAvailable(byCity[key[1]]))
		}
	}
	return result
}

// knownAvailable is how many Instances of a deployment are known to be Available. The state of those whose condition
// Available is Unknown is not known.
func knownAvailable(deployment *v1alpha.WorkloadDeployment) int32 {
	if deployment == nil {
		return 0
	}
	condition := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionAvailable)
	if condition == nil || condition.Status == metav1.ConditionUnknown || condition.Reason == v1alpha.ReasonProjectSuspended {
		return 0
	}
	return deployment.Status.AvailableReplicas
}

// workloadAvailable returns condition Available of the Workload. worst is the worst condition of its placements.
func (s *summary) workloadAvailable(all tally, worst *metav1.Condition, placements []v1alpha.WorkloadPlacementStatus) metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Message: describe(placements)}
	suspended := worst != nil && worst.Reason == v1alpha.ReasonProjectSuspended
	if s.isAvailable(all) && !suspended {
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonAvailablePlacementFound
		if !all.running {
			condition.Reason = v1alpha.ReasonScaledToZero
		}
		return condition
	}
	condition.Reason = v1alpha.ReasonNoAvailablePlacements
	if all.available > 0 {
		condition.Reason = v1alpha.ReasonTooFewAvailable
	}
	if worst != nil {
		condition.Status = worst.Status
		if len(placements) == 1 || ofAll(worst.Reason) || reasons.IsCause(v1alpha.ConditionAvailable, worst.Reason) {
			condition.Reason = worst.Reason
		}
	}
	if len(placements) > 1 {
		condition.Message = strings.Join(notEmpty(s.describeTally(all), condition.Message), "; ")
	}
	return condition
}

func notEmpty(messages ...string) []string {
	var result []string
	for _, message := range messages {
		if message != "" {
			result = append(result, message)
		}
	}
	return result
}

// generic returns the conditions that tools read of objects of any kind: kstatus waits until Ready is True, and fails
// while Stalled is. Stalled exists only then. After an undo no Instance has the newest template, and none will.
func generic(available, progressing *metav1.Condition, rollout *v1alpha.WorkloadRolloutStatus) []metav1.Condition {
	ready := metav1.Condition{
		Type: v1alpha.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonNotSettled,
		Message: "conditions Available and Progressing have the cause",
	}
	stalled := metav1.Condition{
		Type: v1alpha.ConditionStalled, Status: metav1.ConditionTrue, Reason: progressing.Reason, Message: progressing.Message,
	}
	switch {
	case rollout.Phase == v1alpha.RolloutUndoing || rollout.Phase == v1alpha.RolloutUndone:
		ready.Reason, ready.Message = v1alpha.ReasonRolloutUndone, rollout.Message
		stalled.Reason, stalled.Message = ready.Reason, ready.Message
		return []metav1.Condition{ready, stalled}
	case progressing.Reason == v1alpha.ReasonProgressDeadlineExceeded:
		return []metav1.Condition{ready, stalled}
	case available.Status == metav1.ConditionTrue && isSettled(progressing):
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, v1alpha.ReasonSettled, ""
	}
	return []metav1.Condition{ready}
}

func (s *summary) placementStatus(placement *v1alpha.WorkloadPlacement) (v1alpha.WorkloadPlacementStatus, tally) {
	result := v1alpha.WorkloadPlacementStatus{Name: placement.Name}
	if placement.Spread != nil {
		result.Cities = s.Workload.Status.RecordOf(placement.Name)
	}
	var worst *metav1.Condition
	var silent []string
	for _, deployment := range s.deploymentsOf(placement.Name) {
		counts := s.countUpdated(deployment)
		if !isCounted(s.phaseOf(deployment)) {
			counts.DesiredReplicas = 0
		}
		result.ReplicaCounts = result.Add(counts)
		condition := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionAvailable)
		switch {
		case condition == nil:
			silent = append(silent, deployment.Spec.CityCode+": "+notReported)
		case condition.Status != metav1.ConditionTrue && worse(condition, worst):
			worst = withData(condition, deployment)
		}
	}
	if worst != nil && worst.Reason == v1alpha.ReasonProjectSuspended {
		worst = withUnconfirmed(worst, s.deploymentsOf(placement.Name))
	}
	var existing []metav1.Condition
	for i := range s.Workload.Status.Placements {
		if s.Workload.Status.Placements[i].Name == placement.Name {
			existing = s.Workload.Status.Placements[i].Conditions
		}
	}
	counted := s.tallyOf(placement)
	result.Conditions = apply.MergedConditions(existing, s.stamp(), s.placementAvailable(placement.Name, counted, worst, silent))
	return result, counted
}

// placementAvailable returns the condition of a placement. worst is the worst condition of its deployments, and silent
// are messages about deployments without conditions, which matter if no other deployment has a cause.
func (s *summary) placementAvailable(name string, counted tally, worst *metav1.Condition, silent []string) metav1.Condition {
	condition := metav1.Condition{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonNoAvailableDeployments,
	}
	if counted.available > 0 {
		condition.Reason = v1alpha.ReasonTooFewAvailable
	}
	available := s.isAvailable(counted) && (worst == nil || worst.Reason != v1alpha.ReasonProjectSuspended)
	var messages []string
	if !available {
		messages = notEmpty(s.describeTally(counted))
	}
	if worst != nil {
		condition.Status, condition.Reason = worst.Status, worst.Reason
		messages = append(messages, worst.Message)
	} else if !available {
		messages = append(messages, silent[:min(len(silent), mostCities)]...)
	}
	s.addObstacles(name, &condition, worst != nil)
	condition.Message = strings.Join(append(messages, s.obstacles(name)...), "; ")
	if available {
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonAvailableDeploymentFound
		if !counted.running {
			condition.Reason, condition.Message = v1alpha.ReasonScaledToZero, ""
		}
	}
	return condition
}

// addObstacles adds the reasons why a placement lacks deployments to its condition. known: a deployment has the reason.
func (s *summary) addObstacles(name string, condition *metav1.Condition, known bool) {
	if len(s.missing[name]) > 0 && !known {
		condition.Reason = v1alpha.ReasonNoMatchingLocation
	}
	if reason := s.unsized[name]; reason != "" && !known {
		condition.Reason = reason
	}
	if s.describeMissingNetworks() != "" && condition.Reason != v1alpha.ReasonProjectSuspended {
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha.ReasonNetworkNotFound
	}
	if s.NoData && !known {
		condition.Reason = v1alpha.ReasonReferencedDataNotReady
	}
}

// obstacles describes why a placement lacks deployments.
func (s *summary) obstacles(name string) []string {
	return slices.Concat(s.missing[name], s.blocked[name], notEmpty(s.describeMissingNetworks(), s.describeUnread(),
		describeLost(s.Workload.Status.RecordOf(name))))
}
