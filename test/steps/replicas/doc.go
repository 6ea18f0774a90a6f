// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package replicas has the sentences about the replicas of the add-on: their shards, versions and outages.
package replicas

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about replicas.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addNodeSteps(sc)
	addOutageSteps(sc)
	addLostHubSteps(sc)
	addReplicaSteps(sc)
	addVersionSteps(sc)
}

// state is the state that the sentences of a scenario share.
type state struct {
	// killed is the last killed replica.
	killed killed
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
