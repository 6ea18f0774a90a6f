// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package commands has the sentences about the users' commands and the pages of the documentation.
package commands

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about commands.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addCommandSteps(sc)
	addKubectlSteps(sc)
	addPageSteps(sc)
}
