// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package monitoring has the sentences about metrics, alerts and dashboards.
package monitoring

import (
	"context"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps are what a scenario reads of the monitoring.
type Steps struct{ *world.Scenario }

// In returns the steps for a scenario.
func In(s *world.Scenario) Steps { return Steps{s} }

func from(ctx context.Context) Steps { return In(world.From(ctx)) }

// Register adds the sentences.
func Register(sc world.Sentences) {
	addMonitoringSteps(sc)
}

// state is what the sentences know of each other.
type state struct {
	// prometheus is the one that scrapes the add-on.
	prometheus prometheusv1.API
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
