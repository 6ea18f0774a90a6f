// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package disruptions has the sentences about disruptions in cells: evictions, deletions, drains and cordons, and what a disruption budget
// leaves of them.
package disruptions

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps are what a scenario does to Instances in cells, and watches there.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state is what the scenario watches.
func (s Steps) state() *readyWatch { return world.State[readyWatch](s.Scenario) }

// Register adds the sentences.
func Register(sc world.Sentences) { addSteps(sc) }
