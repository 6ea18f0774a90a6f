// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sessions has the sentences about logs, commands and ports of Instances, which a consumer uses with the kubeconfig of a
// project.
package sessions

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps holds the scenario for the sentences about sessions.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state is the state that the sentences of a scenario share.
type state struct {
	// ran is the command that the consumer started last.
	ran *running
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
