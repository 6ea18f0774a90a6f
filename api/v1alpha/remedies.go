// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "slices"

// Actor is who must act on a reason.
type Actor string

// Actors.
const (
	// ActorConsumer changes the Workload, or what it names in the project.
	ActorConsumer Actor = "consumer"
	// ActorOperator looks after the hub, the cells or Milo.
	ActorOperator Actor = "operator"
	// ActorNobody has nothing to do: the reason says that all is well, or passes by itself.
	ActorNobody Actor = "nobody"
)

// Conditions of a Karmada Cluster that the add-on writes.
const (
	// ConditionComputeAgentReady is True while the agent of the add-on in the cell is available and current.
	ConditionComputeAgentReady = "ComputeAgentReady"
	// ConditionComputeForgotten, on a Cluster that an operator has forgotten, is True when nothing is kept for the cell any more.
	ConditionComputeForgotten = "ComputeForgotten"
)

// Remedy says what to do about a reason.
type Remedy struct {
	// Reason of the conditions.
	Reason string
	// Actor is who must act.
	Actor Actor
	// Do is what that is, as an instruction. For nobody it says what happens by itself; "" where all is well.
	Do string
	// Conditions are the types of the conditions that have the reason.
	Conditions []string
}

// RemedyOf is the remedy for a reason of a condition. There is none for conditions of others, such as the reasons that a
// HorizontalPodAutoscaler has beside those listed.
func RemedyOf(condition, reason string) (Remedy, bool) {
	index := slices.IndexFunc(remedies, func(r Remedy) bool { return r.Reason == reason && slices.Contains(r.Conditions, condition) })
	if index < 0 {
		return Remedy{}, false
	}
	return remedies[index].clone(), true
}

// Remedies are the remedies for all reasons that the add-on sets. The caller may change them.
func Remedies() []Remedy {
	result := make([]Remedy, len(remedies))
	for i := range remedies {
		result[i] = remedies[i].clone()
	}
	return result
}

func (r Remedy) clone() Remedy {
	r.Conditions = slices.Clone(r.Conditions)
	return r
}
