// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// The conditions of each kind: first the condition that reports whether all is well, then the conditions that may have
// the cause. Of two reasons with the same rank, the one of the earlier condition is shown, and the first condition
// comes last.
var (
	workloadConditions = []string{
		v1alpha.ConditionAvailable, v1alpha.ConditionInstanceTypeDisabled, v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ConditionScheduled,
		v1alpha.ConditionProgressing,
		v1alpha.ConditionDisruptionBudget, v1alpha.ConditionServiceProgrammed, v1alpha.ConditionDataCurrent,
	}
	deployConditions = []string{
		v1alpha.ConditionReplicasReady, v1alpha.ConditionSuspended, v1alpha.ConditionSpecReceived, v1alpha.ConditionTemplateAccepted,
		v1alpha.ConditionScheduled, v1alpha.ConditionStatusCurrent, v1alpha.ConditionReferencedDataReady,
		v1alpha.ConditionAvailable, v1alpha.ConditionScalingActive, v1alpha.ConditionServiceProgrammed, v1alpha.ConditionProgressing,
	}
	instanceConditions = []string{
		v1alpha.ConditionReady, v1alpha.ConditionQuotaGranted, v1alpha.ConditionReferencedDataReady, v1alpha.ConditionProgrammed,
		v1alpha.ConditionDataCurrent,
	}
	clusterConditions = []string{v1alpha.ConditionReady, v1alpha.ConditionComputeCityConfirmed, v1alpha.ConditionComputeAgentReady}
)

// trueIsBad holds the conditions that are True while there is a fault.
var trueIsBad = []string{
	v1alpha.ConditionInstanceTypeDisabled, v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ConditionSuspended, v1alpha.ConditionDegraded,
	v1alpha.ConditionStalled,
}

// besides holds the conditions whose faults are not why Instances are not Ready, and which need their own remedy whatever the Instances do.
var besides = []string{
	v1alpha.ConditionServiceProgrammed, v1alpha.ConditionNamesProgrammed, v1alpha.ConditionDataCurrent, v1alpha.ConditionScalingActive,
}

// Finding is a condition's statement about an object: the cause of a fault, or a warning for its user.
type Finding struct {
	// Condition is the type of the condition; "" if the object is missing.
	Condition string `json:"condition,omitempty"`
	Reason    string `json:"reason"`
	Message   string `json:"message,omitempty"`
	// Since is the last transition time of the condition.
	Since *metav1.Time `json:"since,omitempty"`
	// Actor must act: consumer, operator or nobody. It is "" for reasons that are not the add-on's.
	Actor reasons.Actor `json:"actor,omitempty"`
	// Do is the action to take.
	Do string `json:"do,omitempty"`
	// Warning is true if the object works nevertheless.
	Warning bool `json:"warning,omitempty"`
	// rank is the specificity of the reason; 0 for reasons that are not the add-on's.
	rank reasons.Rank
}

func (f *Finding) urgent() bool {
	return f != nil && (f.Actor == reasons.ActorConsumer || f.Actor == reasons.ActorOperator)
}

// moment is the time at which an object is examined, and the start of its present state.
type moment struct {
	now   time.Time
	since time.Time
}

// at returns the moment of an object with these conditions. A condition keeps its transition time when only its reason
// changes. So the present state of the object began at the last transition of any of its conditions, at the latest.
func at(now time.Time, conditions []metav1.Condition) moment {
	m := moment{now: now, since: now}
	for i := range conditions {
		if changed := conditions[i].LastTransitionTime.Time; i == 0 || changed.After(m.since) {
			m.since = changed
		}
	}
	return m
}

// lasted returns how long the object has had its present state, or 0 if that is unknown.
func (m moment) lasted() time.Duration {
	if m.now.IsZero() || m.since.IsZero() {
		return 0
	}
	return m.now.Sub(m.since)
}

func findingOf(condition *metav1.Condition, m moment) *Finding {
	f := &Finding{Condition: condition.Type, Reason: condition.Reason, Message: condition.Message}
	if !condition.LastTransitionTime.IsZero() {
		f.Since = condition.LastTransitionTime.DeepCopy()
	}
	if remedy, ok := reasons.Of(condition.Type, condition.Reason); ok {
		f.apply(&remedy, m.lasted())
	}
	return f
}

// apply adds the remedy of a reason that has lasted this long to a finding.
func (f *Finding) apply(remedy *reasons.Remedy, lasted time.Duration) {
	action := remedy.After(lasted)
	f.Actor, f.Do, f.rank = action.Actor, action.Do, remedy.Rank
}

// wrong reports whether a condition reports a fault.
func wrong(condition *metav1.Condition) bool {
	switch {
	case slices.Contains(trueIsBad, condition.Type):
		return condition.Status == metav1.ConditionTrue || condition.Reason == v1alpha.ReasonNotConfirmed
	case condition.Type == v1alpha.ConditionProgressing:
		return condition.Reason == v1alpha.ReasonProgressDeadlineExceeded
	}
	return condition.Status != metav1.ConditionTrue
}

// cause returns the most specific reason why an object is not as it should be, by its conditions of these types; nil
// when all is well. If the object works, cause returns a finding that requires an action, such as a deprecated type or
// a field without effect.
func cause(conditions []metav1.Condition, types []string, now time.Time) *Finding {
	working := meta.IsStatusConditionTrue(conditions, types[0])
	m := at(now, conditions)
	var found *Finding
	for _, conditionType := range append(slices.Clone(types[1:]), types[0]) {
		condition := meta.FindStatusCondition(conditions, conditionType)
		if condition == nil {
			continue
		}
		finding := findingOf(condition, m)
		if !wrong(condition) && (!finding.urgent() || !working) || working && !finding.urgent() {
			continue
		}
		if found == nil || finding.supersedes(found) {
			found = finding
		}
	}
	if found != nil {
		found.Warning = working
	}
	return found
}

// faultsIn returns a finding for each condition that reports a fault: all of them while the object works, else the ones that do not explain
// why it does not. The table of remedies decides what is a fault, so that no condition is forgotten here.
func faultsIn(conditions []metav1.Condition, types []string, now time.Time) []*Finding {
	working := meta.IsStatusConditionTrue(conditions, types[0])
	m := at(now, conditions)
	var found []*Finding
	for i := range conditions {
		finding := findingOf(&conditions[i], m)
		switch {
		case finding.rank <= reasons.RankSummary && !finding.urgent(), !wrong(&conditions[i]) && (!finding.urgent() || !working),
			finding.Condition == types[0]:
		case !working && !slices.Contains(besides, finding.Condition):
		default:
			finding.Warning = true
			found = append(found, finding)
		}
	}
	return found
}

// supersedes reports whether a finding is shown in the place of another one: it is more specific, or as specific and requires
// an action.
func (f *Finding) supersedes(other *Finding) bool {
	if f.rank != other.rank {
		return f.rank > other.rank
	}
	return f.urgent() && !other.urgent()
}
