// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quiet has the sentences about the add-on's writes, and periods without writes.
package quiet

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps holds the scenario for the sentences about writes.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state is the state that the sentences of a scenario share.
type state struct {
	// watched is a period in which the add-on should not write.
	watched period
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
