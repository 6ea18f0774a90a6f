// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package attempts has the sentences about requests that may be refused, and about their results.
package attempts

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps holds the scenario for the sentences about attempts.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// state is the state that the sentences of a scenario share.
type state struct {
	// attempt is the last attempt.
	attempt attempt
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
