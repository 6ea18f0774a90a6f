// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package projects has the sentences about projects, their quota and their networks.
package projects

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about projects.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addNamespaceSteps(sc)
	addNetworkSteps(sc)
	addProjectSteps(sc)
	addQuotaSteps(sc)
}
