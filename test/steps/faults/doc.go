// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults has the sentences about faults, soaks and hostile cells.
package faults

import (
	"context"
	"time"

	"github.com/karmada-compute/karmada-compute/test/soak"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about faults.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addFaultSteps(sc)
	addHostileSteps(sc)
}

// state is the state that the sentences of a scenario share.
type state struct {
	// clock is the start time of the clock.
	clock time.Time
	// killed is when processes were killed.
	killed time.Time
	// soaked is the result of a soak.
	soaked *soak.Result
	// rolled are the results of rollouts.
	rolled []soak.RollingResult
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
