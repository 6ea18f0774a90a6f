// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
)

var (
	modelSteps = flag.Int("model.steps", 20000, "steps of the model check of the budget")
	modelSeed  = flag.Uint64("model.seed", 1, "first seed of the model check of the budget")
	// model.starts=50 shows that no mistake is found by luck.
	modelStarts = flag.Uint64("model.starts", 1, "how many first seeds each mistake is found from, 200,000 apart")
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
	w.settle()
	repeated := w.writes
	if w.settle(); w.writes > repeated {
		return fmt.Errorf("%d more writes because of reports that do not change", w.writes-repeated)
	}
	w.workload.value.leaving = nil
	w.workload.version++
	var total int32
	for _, c := range w.cells {
		c.cut, c.lost, c.awaiting, c.invented = false, false, 0, 0
		for _, one := range c.instances {
			*one = instance{}
			total++
		}
	}
	before := w.writes
	w.settle()
	// The Workload and each city raise floors, lower others once these are confirmed, and lower more once cities have
	// confirmed theirs.
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
	// Cells hesitate at random.
	for range 30 + 4*total {
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

// settled reports faults of a federation in which all Instances are Available, none awaits a disruption and no message
// is in flight: writes that do not end, or slack that one member has and another one lacks.
func (w *world) settled() error {
	before := w.writes
	if w.settle(); w.writes > before {
		return fmt.Errorf("a settled federation has %d more writes", w.writes-before)
	}
	var cities []int32
	for _, city := range slices.Sorted(maps.Keys(w.deployments)) {
		floor := w.workload.value.plan[city]
		cities = append(cities, max(0, w.desired(city)-floor.MinAvailable), w.desired(city))
		var cells []int32
		for _, name := range slices.Sorted(maps.Keys(w.copies[city].value.cells)) {
			cells = append(cells, max(0, w.cells[name].desired()-w.cells[name].floor.MinAvailable), w.cells[name].desired())
		}
		if !even(cells) {
			return fmt.Errorf("the slack and the Instances of the cells of %s are %d", city, cells)
		}
	}
	if !even(cities) {
		return fmt.Errorf("the slack and the Instances of the cities are %d", cities)
	}
	return nil
}

// even reports whether members have as much slack as each other to within one, or as they have Instances. of has slack
// and Instances of each.
func even(of []int32) bool {
	for i := 0; i < len(of); i += 2 {
		for j := 0; j < len(of); j += 2 {
			if of[i] < of[i+1] && of[j] > of[i]+1 {
				return false
			}
		}
	}
	return true
}

// check compares the minimum in force with the number of Available Instances, and of failures that may be hidden from
// the hub.
func (w *world) check(after string) error {
	var available int32
	for _, c := range w.cells {
		available += c.available()
	}
	return w.compare(after, available)
}

// foresee finds the violation of disruptions that the cells may make next, however long the hub hears nothing of them.
// Without it, the model finds a mistake only if these disruptions come before the hub corrects it.
func (w *world) foresee() error {
	var available, least int32
	for _, c := range w.cells {
		available, least = available+c.available(), least+w.least(c)
	}
	if least == available {
		return nil
	}
	return w.compare("all disruptions that the cells may make", least)
}

func (w *world) compare(after string, available int32) error {
	var hidden int32
	for _, c := range w.cells {
		for _, one := range c.instances {
			if one.failed && one.fresh {
				hidden++
			}
		}
	}
	if available+hidden < w.inForce {
		return fmt.Errorf("after %s %d Instances are Available and %d have failed without the hub's knowledge; the minimum is %d",
			after, available, hidden, w.inForce)
	}
	return nil
}

// least is how many Instances stay Available in a cell that disrupts as many as it may, also by a floor in flight.
func (w *world) least(c *cell) int32 {
	least := c.available()
	if c.floor != nil {
		least = min(least, c.floor.MinAvailable)
	}
	onTheWay := c.down
	if copied, exists := w.copies[c.city]; exists && copied.value.cells[c.name] != nil {
		onTheWay = append(slices.Clone(onTheWay), *copied.value.cells[c.name])
	}
	for _, floor := range onTheWay {
		if Newest(c.floor, &floor) != c.floor {
			least = min(least, floor.MinAvailable)
		}
	}
	return least
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
			for start := range *modelStarts {
				_, err := explore(2000000, *modelSeed+200000*start, mistake)
				if err == nil {
					t.Fatalf("the model does not find it from seed %d", *modelSeed+200000*start)
				}
				t.Log(err)
			}
		})
	}
}
