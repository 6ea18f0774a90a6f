// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

// Phase is the phase of a rollout.
type Phase string

// Phases of a rollout.
const (
	// Progressing rollouts have a city that gets the target or waits for it.
	Progressing Phase = "Progressing"
	// Paused rollouts wait for a user.
	Paused Phase = "Paused"
	// Complete rollouts have all Instances Available with the target.
	Complete Phase = "Complete"
)

// Steps is a plan: the next steps, and the state of the rollout.
type Steps struct {
	// Take are the steps to take now, each in another city.
	Take []Step
	// Turns say for each city of the State what it does or waits for.
	Turns []Turn
	// Phase of the rollout, City that it is in (-1: none), and Message about what it waits for.
	Phase   Phase
	City    int
	Message string
}

// Step gives a city the target.
type Step struct {
	// City is the position of the city.
	City int
	// Released: all Instances get the target. Otherwise Indices get it, of which Index is the lowest, and the others keep the
	// template Stable.
	Released bool
	Index    int
	Indices  string
	Stable   string
	// Held: the city keeps its template: only its partition changes.
	Held bool
	// Surge is how many additional Instances the city has from now on.
	Surge int
	// Override is the cell that has its turn for an overridden template, and AtOnce how many Instances it may replace at once
	// after the first one; nil: the step concerns no override. Nothing else changes then.
	Override *Override
	AtOnce   int
	// Cautious says that a cell takes down one Instance at a time.
	Cautious bool
}

// Turn is why a city takes a step or none.
type Turn struct {
	Reason  Reason
	Message string
}

// Reason of a Turn.
type Reason string

// Reasons why a city takes a step or none.
const (
	// StepTaken: it takes a step.
	StepTaken Reason = "StepTaken"
	// Done: all of its Instances have the target and are Available.
	Done Reason = "Done"
	// Replacing: all of its Instances get the target, and its cells are replacing them.
	Replacing Reason = "Replacing"
	// RolloutPaused: spec.rollout.paused is set, or the instance type of the template is not usable.
	RolloutPaused Reason = "Paused"
	// PauseReached: spec.rollout.pauseAfter is reached.
	PauseReached Reason = "PauseReached"
	// Queued: it is the turn of other cities.
	Queued Reason = "Queued"
	// NotReported: its cells have not reported the last step or change.
	NotReported Reason = "NotReported"
	// NotAvailable: Instances that got the target are not Available.
	NotAvailable Reason = "NotAvailable"
	// AwaitsAdditional: its additional Instances have not started.
	AwaitsAdditional Reason = "AwaitsAdditional"
	// AwaitsFirst: the first Instance with the target is in another city, and not Available yet.
	AwaitsFirst Reason = "AwaitsFirst"
	// Surplus: it has more Instances than it should have.
	Surplus Reason = "Surplus"
	// Limit: one Instance more would be unavailable than spec.rollout.maxUnavailable allows.
	Limit Reason = "MaxUnavailable"
	// OverrideQueued: an override policy has changed the template in its cells, and it is the turn of other cities.
	OverrideQueued Reason = "OverrideQueued"
	// OverrideReplacing: its cells replace Instances for a changed override policy.
	OverrideReplacing Reason = "OverrideReplacing"
	// Repair: the disruption budget lets only unavailable Instances be replaced.
	Repair Reason = "DisruptionBudget"
)
