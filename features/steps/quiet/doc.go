// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quiet has the sentences about the writes of the add-on, and times without any.
package quiet

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps are what a scenario counts.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addQuietSteps(sc)
}

// state is what the sentences know of each other.
type state struct {
	// watched is a time in which the add-on should write nothing.
	watched period
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
