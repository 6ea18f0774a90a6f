// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sessions has the sentences about logs, commands and ports of Instances, which a consumer reaches with the kubeconfig of a project.
package sessions

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps are what a consumer does with sessions.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) { addSessionSteps(sc) }

// state is what the sentences know of each other.
type state struct {
	// ran is the command that the consumer has started last.
	ran *running
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
