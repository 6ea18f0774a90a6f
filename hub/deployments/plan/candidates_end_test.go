// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// decided checks that no city stays lost although another one can run its Instances.
func (c *candidates) decided(t *testing.T) {
	t.Helper()
	c.held = nil
	c.annotate(t, v1alpha.AnnotationLeaveCities, "")
	c.settle(t)
	c.clock.SetTime(c.clock.Now().Add(31 * time.Minute))
	c.settle(t)
	w := c.readWorkload(t)
	record := w.Status.RecordOf("main")
	running := map[string]bool{}
	for i := range record {
		running[record[i].City] = record[i].Phase == v1alpha.CityRunning
	}
	for city, runs := range running {
		if !runs || c.truth[city] != cells.Lost || c.clock.Now().Sub(c.since[city]) < 31*time.Minute {
			continue
		}
		for _, other := range w.Spec.Placements[0].CityCodes {
			if c.truth[other] == cells.Able && !running[other] {
				c.fail("%s stays lost, and %s could run its Instances: %+v", city, other, record)
			}
		}
	}
}

// end finds all cities again, after which each home has its Instances.
func (c *candidates) end(t *testing.T) {
	t.Helper()
	c.decided(t)
	c.stuck = ""
	for city := range c.truth {
		c.set(city, cells.Able)
	}
	for range 8 {
		c.clock.SetTime(c.clock.Now().Add(11 * time.Minute))
		c.settle(t)
	}
	w := c.readWorkload(t)
	var wanted []string
	record := w.Status.RecordOf("main")
	for i := range record {
		if record[i].Phase != v1alpha.CityRunning || record[i].Since != nil {
			c.fail("at the end the record is %+v", record)
		}
		wanted = append(wanted, "web-main-"+strings.ToLower(record[i].City))
	}
	slices.Sort(wanted)
	if got := c.names(t); got != strings.Join(wanted, " ") || len(wanted) != int(w.Spec.Placements[0].Spread.Cities) {
		c.fail("at the end there are %s, and the record is %+v", got, record)
	}
	if status := w.Status.Rollout; status.Phase != v1alpha.RolloutComplete {
		c.fail("at the end the rollout is %+v", status)
	}
}

// begin plays moves that show a mistake soon.
func (c *candidates) begin(t *testing.T) {
	t.Helper()
	then := func(wait time.Duration, health cells.Health, cities ...string) {
		for _, city := range cities {
			c.set(city, health)
		}
		c.settle(t)
		c.clock.SetTime(c.clock.Now().Add(wait))
		c.settle(t)
	}
	switch c.wrong {
	case noBrake:
		then(2*time.Minute, cells.Lost, "DFW", "JFK", "SEA")
	case clockRunsOn:
		then(0, cells.Lost, "DFW")
		then(2*time.Minute, cells.Able, "DFW")
		then(0, cells.Lost, "DFW")
	case believesStart:
		c.stuck = "SEA"
		then(time.Minute, cells.Lost, "DFW")
		then(0, cells.Able, "DFW")
	case doubtIsLoss:
	}
}

// exploreCandidates plays a world to its end, and returns its first fault.
func exploreCandidates(t *testing.T, seed uint64, wrong mistake) string {
	t.Helper()
	c := newCandidates(t, seed, wrong)
	c.begin(t)
	for range 40 {
		c.move(t)
		for range c.IntN(4) {
			c.round(t)
		}
		if wrong == "" && c.IntN(8) == 0 {
			c.decided(t)
		}
		if c.fault != "" {
			break
		}
	}
	if c.fault == "" {
		c.end(t)
	}
	if c.fault == "" {
		return ""
	}
	return fmt.Sprintf("seed %d: %s\n%s", seed, c.fault, strings.Join(c.moves, "\n"))
}

// TestCandidates: whatever happens to cities and candidates, no more cities than wanted are chosen, the hub's own moves keep the budget, a
// city is replaced only when it was lost for long enough, and no Workload is left without a decision.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		if wrong := exploreCandidates(t, seed, ""); wrong != "" {
			t.Fatal(wrong)
		}
	}
}

// TestTheModelOfCandidatesFinds: the model finds each deliberate mistake.
func TestTheModelOfCandidatesFinds(t *testing.T) {
	t.Parallel()
	for _, wrong := range []mistake{doubtIsLoss, noBrake, clockRunsOn, believesStart} {
		t.Run(string(wrong), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(60) {
				if exploreCandidates(t, seed, wrong) != "" {
					return
				}
			}
			t.Error("the model does not find it")
		})
	}
}
