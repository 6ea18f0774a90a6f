// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cells has the sentences about whole cells: their number, city, capacity and load.
package cells

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about cells.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addCellSteps(sc)
	addMetricsSteps(sc)
	addRoomSteps(sc)
}
