// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Actor is the person who must act on a reason.
type Actor string

// Actors.
const (
	// ActorConsumer changes the Workload, or the objects that it names in the project.
	ActorConsumer Actor = "consumer"
	// ActorOperator operates the hub, the cells or Milo.
	ActorOperator Actor = "operator"
	// ActorNobody does nothing: the reason reports no fault, or clears by itself.
	ActorNobody Actor = "nobody"
)

// Rank is the specificity of a reason. If an object has several reasons, the reason with the highest rank is shown.
type Rank int

// Ranks, the least specific first.
const (
	// RankWell is the rank of reasons that report no fault.
	RankWell Rank = iota + 1
	// RankSummary is the rank of reasons that summarize other conditions or other objects.
	RankSummary
	// RankStep is the rank of reasons that name a step, which usually ends without an action.
	RankStep
	// RankCause is the rank of reasons that name a cause.
	RankCause
)

// Forever is the normal duration of a reason that reports no fault.
const Forever time.Duration = math.MaxInt64

// Action is the required action of an Actor.
type Action struct {
	// Actor is the person who must act.
	Actor Actor
	// Do is an instruction. For ActorNobody it describes what happens without an action.
	Do string
}

// Remedy is the remedy for a reason.
type Remedy struct {
	// Reason of the conditions.
	Reason string
	// Rank is the specificity of the reason.
	Rank Rank
	// Normal is the usual duration of the reason. It is 0 if an Actor must act at once.
	Normal time.Duration
	// Action while the reason has not lasted longer than Normal. Do is "" if the reason reports no fault.
	Action
	// Late is the action when the reason has lasted longer than Normal. It is empty if Normal is 0 or Forever.
	Late Action
	// Conditions are the types of the conditions with the reason.
	Conditions []string
}

// After returns the action for a reason that has lasted this long.
func (r *Remedy) After(lasted time.Duration) Action {
	if r.Late.Actor != "" && lasted > r.Normal {
		return r.Late
	}
	return r.Action
}

// Of is the remedy for a reason of a condition. Condition Degraded has the causes of Available. ok is false for conditions of
// other controllers, such as the unlisted reasons of a HorizontalPodAutoscaler.
func Of(condition, reason string) (Remedy, bool) {
	if condition == v1alpha.ConditionDegraded {
		condition = v1alpha.ConditionAvailable
	}
	index := slices.IndexFunc(remedies, func(r Remedy) bool { return r.Reason == reason && slices.Contains(r.Conditions, condition) })
	if index < 0 {
		return Remedy{}, false
	}
	return remedies[index].clone(), true
}

// IsCause reports whether a reason of a condition names a cause.
func IsCause(condition, reason string) bool {
	remedy, known := Of(condition, reason)
	return known && remedy.Rank == RankCause
}

// Causes are the reasons of Available that name a cause, the most urgent one first. The slice is the caller's own.
func Causes() []string {
	var causes []string
	for i := range remedies {
		if remedies[i].Rank == RankCause && slices.Contains(remedies[i].Conditions, v1alpha.ConditionAvailable) {
			causes = append(causes, remedies[i].Reason)
		}
	}
	return causes
}

// Compare orders reasons by their urgency: of two reasons, the one with the higher rank comes first, and of one rank the one that the
// table has first. Reasons that are not in the table come last.
func Compare(a, b string) int { return cmp.Compare(urgency(a), urgency(b)) }

// urgencies has a number for each reason, the smallest for the most urgent one.
var urgencies = func() map[string]int {
	sorted := slices.Clone(remedies)
	slices.SortStableFunc(sorted, func(a, b Remedy) int { return cmp.Compare(b.Rank, a.Rank) })
	result := map[string]int{}
	for i := range sorted {
		if _, known := result[sorted[i].Reason]; !known {
			result[sorted[i].Reason] = i
		}
	}
	return result
}()

func urgency(reason string) int {
	if at, known := urgencies[reason]; known {
		return at
	}
	return len(remedies)
}

// All are the remedies for all reasons that the add-on sets. The caller may change them.
func All() []Remedy {
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
