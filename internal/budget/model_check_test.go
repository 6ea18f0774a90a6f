// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"flag"
	"fmt"
	"testing"
)

var (
	modelSteps = flag.Int("model.steps", 20000, "steps of the model check of the budget")
	modelSeed  = flag.Uint64("model.seed", 1, "first seed of the model check of the budget")
)

// episode is how many steps a world has.
const episode = 500

// explore runs worlds until one has a violation or all steps are done.
func explore(steps int, seed uint64, broken string) (disruptions int, err error) {
	for ; steps > 0; steps, seed = steps-episode, seed+1 {
		w := newWorld(seed, broken)
		for n := range episode {
			if err := w.step(); err != nil {
				return disruptions, fmt.Errorf("seed %d, step %d: %w", seed, n, err)
			}
		}
		disruptions += w.disruptions
		if err := w.drain(); err != nil {
			return disruptions, fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return disruptions, nil
}

// drain heals everything and asks each cell to disrupt each of its Instances once.
func (w *world) drain() error {
	w.workload.value.leaving = nil
	w.workload.version++
	var total int32
	for _, c := range w.cells {
		c.cut, c.lost, c.awaiting = false, false, 0
		for _, one := range c.instances {
			*one = instance{}
			total++
		}
	}
	before := w.writes
	w.settle()
	// The Workload and each city raise floors, lower others once these are confirmed, and lower more once cities have confirmed theirs.
	if most := 4 * (1 + len(w.deployments)); w.writes > before+most {
		return fmt.Errorf("%d writes until everything has settled, and not %d", w.writes-before, most)
	}
	if err := w.settled(); err != nil {
		return err
	}
	if w.workload.value.minimum >= total {
		return nil
	}
	for _, c := range w.cells {
		c.awaiting = int32(len(c.instances))
	}
	for range 4 * total {
		w.settle()
		waiting := int32(0)
		for _, c := range w.cells {
			if c.awaiting > 0 {
				if err := w.disrupt(c); err != nil {
					return err
				}
			}
			waiting += c.awaiting
		}
		if waiting == 0 {
			return nil
		}
		w.settle()
		for _, c := range w.cells {
			for _, one := range c.instances {
				*one = instance{}
			}
		}
	}
	return fmt.Errorf("cells wait for disruptions forever: %d Instances, minimum %d, %v", total, w.workload.value.minimum, w.state())
}

// TestModel is the model check. `go test -run TestModel ./internal/budget -args -model.steps=1000000` runs a long one.
func TestModel(t *testing.T) {
	t.Parallel()
	disruptions, err := explore(*modelSteps, *modelSeed, "")
	if err != nil {
		t.Fatal(err)
	}
	if disruptions < *modelSteps/100 {
		t.Errorf("%d disruptions in %d steps: the model checks too little", disruptions, *modelSteps)
	}
	t.Logf("%d voluntary disruptions in %d steps", disruptions, *modelSteps)
}

// TestModelFindsMistakes: each rule of the protocol matters.
func TestModelFindsMistakes(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{
		"a floor is lowered without a guarantee",
		"a raised floor counts before it is confirmed",
		"what was sent before is forgotten",
		"a report from before the floor counts",
		"a confirmation with an earlier count",
		"a lost cell counts",
		"the last report of a lost cell counts when it returns",
		"recovery lets others be disrupted",
		"a minimum is reported before it is in force",
		"the floors inside a city do not matter",
		"a cell goes back to an earlier floor",
		"a floor goes back on its way",
		"a plan of a stale cache is stored",
		"floors are written before the plan",
		"a city is removed without a guarantee",
		"slack stays where an Instance recovers",
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			_, err := explore(2000000, *modelSeed, mistake)
			if err == nil {
				t.Fatal("the model does not find it")
			}
			t.Log(err)
		})
	}
}
