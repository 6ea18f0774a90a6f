// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package disruptions has the sentences about disruptions in cells: evictions, deletions, drains and cordons, and their limits by
// disruption budgets.
package disruptions

import (
	"context"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps holds the scenario for the sentences about disruptions.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state returns the watch of the scenario.
func (s Steps) state() *readyWatch { return world.State[readyWatch](s.Scenario) }
