// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package containers has the sentences about real containers and their clients' traffic.
package containers

import (
	"context"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about containers.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addContainerSteps(sc)
	addTrafficSteps(sc)
}

// state is the state that the sentences of a scenario share.
type state struct {
	// followed is the followed log.
	followed *podLog
	// traffic is a client of a Workload.
	traffic *federation.Traffic
	// lost is since when the hub does not reach cells.
	lost map[string]time.Time
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
