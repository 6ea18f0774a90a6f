// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights has the sentences about the rights of users, the reach of stolen credentials, and unused rights.
package rights

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about rights.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addRightsSteps(sc)
	addStolenSteps(sc)
}
