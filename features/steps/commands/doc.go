// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package commands has the sentences about commands and pages: what users run, and what the documentation lets them run.
package commands

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps are what a scenario runs as users do.
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
