// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights has the sentences about who may do what, what stolen credentials reach, and which rights are used.
package rights

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps are what a scenario asks about rights.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addRightsSteps(sc)
	addStolenSteps(sc)
}
