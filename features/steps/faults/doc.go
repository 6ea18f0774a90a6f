// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults has the sentences about faults, soaks and hostile cells.
package faults

import (
	"context"
	"time"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
	"github.com/karmada-compute/karmada-compute/test/soak"
)

// Steps are what a scenario does to break the federation.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addFaultSteps(sc)
	addHostileSteps(sc)
}

// state is what the sentences know of each other.
type state struct {
	// clock is when the clock was started.
	clock time.Time
	// soaked is what a soak came to.
	soaked *soak.Result
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
