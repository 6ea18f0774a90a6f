// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/test/soak"
	"github.com/karmada-compute/karmada-compute/test/steps/projects"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addHostileSteps adds the sentences about parties that write at random.
func addHostileSteps(sc world.Sentences) {
	sc.Step(`^a hostile (consumer|role|user|agent|neighbour|cell "[^"]*") writes at random for (\d+) seconds beside project "([^"]*)", seed (\d+)$`, func(ctx context.Context, party string, seconds int, victim string, seed int) error {
		s := from(ctx)
		victim = s.Expand(victim)
		if !s.Federation.WithoutMilo() { // otherwise the victim is a namespace that the scenario has created
			if err := projects.In(s.Scenario).AddNamespace(ctx, victim); err != nil {
				return err
			}
		}
		party, cell, _ := strings.Cut(party, " ")
		return s.hostile(ctx, &soak.Hostile{
			//nolint:gosec // a number in a scenario
			Soak: &soak.Soak{
				Options: soak.Options{Seed: uint64(seed), Duration: time.Duration(seconds) * time.Second, Pace: 100 * time.Millisecond},
			},
			Party: soak.Party(party), Cell: strings.Trim(cell, `"`), Project: s.Project, Victim: victim,
		})
	})
}

// hostile runs the noise in the scenario's namespaces and in its reserved cells.
func (s Steps) hostile(ctx context.Context, h *soak.Hostile) error {
	h.Planes, h.AddOn, h.Namespace, h.Consumer, h.Patience, h.Out = s.Planes, s.AddOn, s.Namespace, world.Admin, world.Patience, s.Out
	if s.Federation.WithoutMilo() {
		h.Consumer = world.Consumer // whose role is a webhook's proof; Admin has none
	}
	h.Cities = []string{"IAD"}
	s.Made.Add("what was hostile", h.Remove)
	result, err := h.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.Out, result)
	return result.Err()
}
