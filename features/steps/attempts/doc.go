// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package attempts has the sentences about what may be refused: an attempt, and what became of it.
package attempts

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps are what a scenario tries.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addAttemptSteps(sc)
}

// state is what the sentences know of each other.
type state struct {
	// attempt is what was tried last.
	attempt attempt
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
