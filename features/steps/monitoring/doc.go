// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package monitoring has the sentences about metrics, alerts and dashboards.
package monitoring

import (
	"context"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/karmada-compute/karmada-compute/features/steps/world"
)

// Steps holds the scenario for the sentences about monitoring.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state is the state that the sentences of a scenario share.
type state struct {
	// prometheus is the Prometheus that scrapes the add-on.
	prometheus prometheusv1.API
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }
