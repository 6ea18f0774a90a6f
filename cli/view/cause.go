// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// The conditions of each kind: first the one that says whether all is well, then those that may say why not, what is nearest to the
// cause first.
var (
	workloadConditions = []string{v1alpha.ConditionAvailable, v1alpha.ConditionInstanceTypeDisabled, v1alpha.ConditionInstanceTypeDeprecated}
	deployConditions   = []string{
		v1alpha.ConditionReplicasReady, v1alpha.ConditionSuspended, v1alpha.ConditionStatusCurrent, v1alpha.ConditionReferencedDataReady,
		v1alpha.ConditionAvailable, v1alpha.ConditionScalingActive,
	}
	instanceConditions = []string{
		v1alpha.ConditionReady, v1alpha.ConditionQuotaGranted, v1alpha.ConditionReferencedDataReady, v1alpha.ConditionProgrammed,
	}
	clusterConditions = []string{v1alpha.ConditionReady, v1alpha.ConditionComputeAgentReady}
)

// trueIsBad are conditions that are True while something is wrong.
var trueIsBad = []string{v1alpha.ConditionInstanceTypeDisabled, v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ConditionSuspended}

// Finding is what a condition says about an object: what holds it, or what its user ought to know.
type Finding struct {
	// Condition that says so; "" where an object is missing.
	Condition string `json:"condition,omitempty"`
	Reason    string `json:"reason"`
	Message   string `json:"message,omitempty"`
	// Since is when the condition became so.
	Since *metav1.Time `json:"since,omitempty"`
	// Actor is who must act: consumer, operator or nobody. It is "" for reasons that are not the add-on's.
	Actor v1alpha.Actor `json:"actor,omitempty"`
	// Do says what to do.
	Do string `json:"do,omitempty"`
	// Warning says that the object works all the same.
	Warning bool `json:"warning,omitempty"`
}

func (f *Finding) urgent() bool {
	return f != nil && (f.Actor == v1alpha.ActorConsumer || f.Actor == v1alpha.ActorOperator)
}

func findingOf(condition *metav1.Condition) *Finding {
	f := &Finding{Condition: condition.Type, Reason: condition.Reason, Message: condition.Message}
	if !condition.LastTransitionTime.IsZero() {
		f.Since = condition.LastTransitionTime.DeepCopy()
	}
	if remedy, ok := v1alpha.RemedyOf(condition.Type, condition.Reason); ok {
		f.Actor, f.Do = remedy.Actor, remedy.Do
	}
	return f
}

// wrong says whether a condition says that something is not as it should be.
func wrong(condition *metav1.Condition) bool {
	if slices.Contains(trueIsBad, condition.Type) {
		return condition.Status == metav1.ConditionTrue || condition.Reason == v1alpha.ReasonNotConfirmed
	}
	return condition.Status != metav1.ConditionTrue
}

// cause is what holds an object, by its conditions in the order of types; nil when all is well. Of an object that works it is what
// its user must do something about, such as a deprecated type or a field without effect.
func cause(conditions []metav1.Condition, types []string) *Finding {
	working := meta.IsStatusConditionTrue(conditions, types[0])
	var first, urgent *Finding
	for _, conditionType := range append(slices.Clone(types[1:]), types[0]) {
		condition := meta.FindStatusCondition(conditions, conditionType)
		if condition == nil {
			continue
		}
		found := findingOf(condition)
		if !wrong(condition) && (!found.urgent() || !working) {
			continue
		}
		if first == nil {
			first = found
		}
		if urgent == nil && found.urgent() {
			urgent = found
		}
	}
	switch {
	case working && urgent != nil:
		urgent.Warning = true
		return urgent
	case working:
		return nil
	case urgent != nil:
		return urgent
	}
	return first
}
