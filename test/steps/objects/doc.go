// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package objects has the sentences about any object of any plane: its existence, its fields, and changes of it.
package objects

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about objects.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addFieldSteps(sc)
	addObjectSteps(sc)
}
