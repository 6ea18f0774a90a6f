// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workloads has the sentences about Workloads, their Instances and their referenced data.
package workloads

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about Workloads.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addDataSteps(sc)
	addInstanceSteps(sc)
	addLoadSteps(sc)
	addSampleSteps(sc)
	addWorkloadSteps(sc)
}

// state is the state that the sentences of a scenario share.
type state struct {
	// load is the stream of Workloads during the scenario.
	load *load
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
