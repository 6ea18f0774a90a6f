// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

var (
	modelSteps = flag.Int("model.steps", 20000, "steps of the model check of rollouts and budgets")
	modelSeed  = flag.Uint64("model.seed", 1, "first seed of the model check of rollouts and budgets")
)

// episode is how many steps a world has.
const episode = 500

// explored counts what the steps of a model check have done.
type explored struct{ disruptions, rollouts, pauses, resizes, removed, turns int }

// explore runs worlds until one has a violation or all steps are done.
func explore(steps int, seed uint64, broken string) (done explored, err error) {
	for ; steps > 0; steps, seed = steps-episode, seed+1 {
		w := newWorld(seed, broken)
		for n := range episode {
			if err := w.step(); err != nil {
				return done, fmt.Errorf("seed %d, step %d: %w", seed, n, err)
			}
		}
		if err := w.end(); err != nil {
			return done, fmt.Errorf("seed %d at the end: %w", seed, err)
		}
		done.disruptions, done.rollouts, done.pauses = done.disruptions+w.disruptions, done.rollouts+w.rollouts, done.pauses+w.pauses
		done.resizes, done.removed, done.turns = done.resizes+w.resizes, done.removed+w.removed, done.turns+w.turns
	}
	return done, nil
}

// end heals everything, often with a minimum that the Instances of a broken template use up. The rollout of a good
// template must then be complete, with all Instances Available and the minimum in force.
func (w *world) end() error {
	if w.plain {
		return w.endBudget()
	}
	next, unavailable := w.workload, 0
	for _, c := range w.cells {
		unavailable += c.unavailable()
	}
	w.lastData(&next.value)
	next.value.target, next.value.minimum = "good-last", int32(max(0, w.total()-1-w.IntN(1+unavailable)))
	if w.IntN(2) == 0 {
		next.value.minimum = w.rot()
	}
	w.inForce = min(w.inForce, next.value.minimum)
	next.version++
	next.value.paused = false
	w.workload, w.suspended = next, false
	for _, last := range w.lastPolicies() {
		for _, c := range w.cells {
			c.policy = last
		}
		if err := w.converge(); err != nil {
			return err
		}
	}
	return nil
}

// converge lets all messages arrive and all cells act until everything is done.
func (w *world) converge() error {
	idle, before := 0, ""
	for range 40 * (1 + w.total()) {
		if idle++; before != fmt.Sprint(w.dump()) {
			idle, before = 0, fmt.Sprint(w.dump())
		}
		w.idle = idle > 20
		w.passTime()
		w.settle()
		if err := w.checkData(); err != nil {
			return err
		}
		for _, name := range names(w.cells) {
			c := w.cells[name]
			c.cut, c.lost = false, false
			w.start(c)
			if c.suspended {
				continue
			}
			if err := w.act(c); err != nil {
				return err
			}
		}
		if w.opened != nil {
			return w.opened
		}
		if w.ended() {
			return nil
		}
	}
	return fmt.Errorf("it does not converge: %+v", w.dump())
}

// rot lets no Instance start with the last complete template. It returns a minimum that has no slack while the present
// unavailable Instances stay unavailable.
func (w *world) rot() int32 {
	w.rotten = w.workload.value.complete
	stuck := 0
	for _, c := range w.cells {
		if !w.workload.value.leaving[c.city] {
			stuck += c.unavailable()
		}
	}
	return int32(max(0, w.total()-max(1, stuck)))
}

func (w *world) ended() bool {
	for _, c := range w.cells {
		for _, index := range c.indices {
			if !w.isDone(c, index) {
				return false
			}
		}
		if len(c.instances) > len(c.indices) {
			return false
		}
	}
	for city, replicas := range w.workload.value.replicas {
		d, exists := w.deployments[city]
		if exists == w.workload.value.leaving[city] || exists && (d.value.spec.replicas != replicas || d.value.spec.surge > 0) {
			return false
		}
	}
	return w.newestData() && w.workload.value.complete == w.workload.value.started() && w.workload.value.effective == w.workload.value.minimum
}

// isDone reports whether the Instance at an index is Available with everything that is newest.
func (w *world) isDone(c *cell, index int) bool {
	one := c.instances[index]
	return one != nil && one.available && one.template == w.workload.value.started() && one.policy == c.policy && !c.drained[index]
}

func (w *world) dump() (state []string) {
	state = append(state, fmt.Sprintf("%+v", w.workload.value))
	for _, city := range names(w.deployments) {
		state = append(state, fmt.Sprintf("%s %+v", city, w.deployments[city].value))
	}
	for _, name := range names(w.cells) {
		state = append(state, fmt.Sprintf("%s %+v floor %+v drained %v", name, w.report(w.cells[name]), w.cells[name].floor,
			w.cells[name].drained))
	}
	return state
}

// settle lets every message between the hub and cells that are not cut off arrive, and the hub act on them. If
// the minimum is reported to be in force, the hub then knows all failures.
func (w *world) settle() {
	w.calm = true
	defer func() { w.calm = false }()
	before := ""
	for range 60 {
		for _, name := range names(w.cells) {
			c := w.cells[name]
			if c.cut {
				continue
			}
			// Earlier floors may still arrive, and no earlier reports.
			c.up = nil
			if floor := w.copies[c.city].value.cells[name]; floor != nil {
				w.receive(c, sent{w.copies[c.city].value.spec, *floor})
			}
			if arrived := w.report(c); fmt.Sprint(arrived) != fmt.Sprint(w.copies[c.city].value.reports[name]) {
				w.writeCopy(c.city, func(copied *copied) { copied.reports[name] = arrived })
			}
		}
		r := w.replicas[0]
		w.refreshAll(r)
		w.divideWorkload(r)
		w.refreshAll(r)
		w.chooseData(r)
		w.refreshAll(r)
		w.rollOut(r)
		w.refreshAll(r)
		if err := w.resizeCities(r); err != nil {
			w.opened = err
		}
		for _, city := range names(w.deployments) {
			w.refreshAll(r)
			w.propagate(r, city)
			w.refreshAll(r)
			w.project(r, city)
		}
		w.refreshAll(r)
		now := fmt.Sprint(w.dump())
		if now == before {
			break
		}
		before = now
	}
	if w.workload.value.effective != w.workload.value.minimum {
		return
	}
	learned := false
	for _, c := range w.cells {
		if !c.cut || c.lost {
			learned = learned || len(c.fresh) > 0
			clear(c.fresh)
		}
	}
	if learned {
		// A replica that has an earlier report would hide these failures again.
		w.refreshAll(w.replicas[1])
	}
}

// TestModel is the model check. `make model` runs a long one.
func TestModel(t *testing.T) {
	t.Parallel()
	done, err := explore(*modelSteps, *modelSeed, "")
	if err != nil {
		t.Fatal(err)
	}
	if done.disruptions < *modelSteps/200 || done.rollouts < *modelSteps/episode/2 || done.pauses < *modelSteps/episode/2 ||
		done.resizes < *modelSteps/episode/2 || done.removed < *modelSteps/episode/20 {
		t.Errorf("%+v in %d steps: the model checks too little", done, *modelSteps)
	}
	t.Logf("%+v in %d steps", done, *modelSteps)
}

// mistaken are members as a hub with a mistake sees them.
func (w *world) mistaken(members []budget.Member) []budget.Member {
	for i := range members {
		m := &members[i]
		switch w.broken {
		case "a raised floor counts before it is confirmed":
			if m.Floor != nil {
				m.Sequence = m.Floor.Sequence
			}
		case "a report from before the floor counts":
			if m.Floor != nil && m.Floor.Pending != nil {
				m.Sequence = max(m.Sequence, m.Floor.Pending.Confirmed)
			} else if m.Floor != nil {
				m.Sequence = max(m.Sequence, m.Floor.Sequence)
			}
		case "a lost cell counts":
			m.Lost, m.Silent = false, false
		case "the floors inside a city do not matter":
			m.InForce = budget.Everything
		case "a plan of a stale cache is stored":
			if m.Floor != nil {
				m.Sequence = min(m.Sequence, m.Floor.Sequence)
			}
		case "the last report of a lost cell counts when it returns":
			misreadReturn(m)
		}
	}
	return members
}

// divide is budget.Divide, or what a hub with a mistake does.
func (w *world) divide(d budget.Division) budget.Divided {
	d.Members = w.mistaken(d.Members)
	switch w.broken {
	case "a floor is lowered without a guarantee":
		d.Minimum = max(0, d.Minimum-1)
	case "recovery lets others be disrupted":
		d.Minimum = min(d.Minimum, known(d.Members))
	}
	result := budget.Divide(d)
	if w.broken == "what was sent before is forgotten" {
		for i := range result.Floors {
			if pending := result.Floors[i].Pending; pending != nil {
				pending.Lowest = result.Floors[i].MinAvailable
			}
		}
	}
	return result
}

// misread changes the state that a rollout goes by, as a hub with a mistake does.
func (w *world) misread(s *rollout.State) {
	for i := range s.Cities {
		c := &s.Cities[i]
		switch w.broken {
		case "no canary":
			s.Proven = true
		case "unavailable Instances":
			for n := range c.Instances {
				c.Instances[n].Available = true
			}
		case "missing Instances":
			c.Missing = 0
		case "all cities at once":
			s.CitiesAtOnce, s.MaxUnavailable = 9, 9
		case "the room of cells":
			c.Room = 0
		case "reports on an earlier step":
			c.Observed = true
		case "a pause does not hold":
			s.Paused = false
		}
	}
}

// misstep changes the steps of a rollout, as a hub with a mistake does.
func (w *world) misstep(result *rollout.Steps) {
	for i := range result.Take {
		switch w.broken {
		case "new Instances get the target":
			result.Take[i].Indices = ""
		case "the partition is one too low":
			result.Take[i].Index--
			result.Take[i].Indices = ""
		case "the stable template is lost":
			result.Take[i].Stable = w.workload.value.started()
		}
	}
	if w.broken == "a partition is never removed" {
		result.Take = slices.DeleteFunc(result.Take, func(step rollout.Step) bool { return step.Released })
	}
}

// TestModelFindsMistakes: each rule matters where rollouts and budgets meet. In a third of the worlds no minimum holds the
// steps of rollouts, whose own rules matter most there.
func TestModelFindsMistakes(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{
		"a cell replaces without its floor", "replacements do not await tokens",
		"no canary", "unavailable Instances", "missing Instances", "all cities at once", "the room of cells", "the partition is one too low",
		"a partition is never removed", "a pause does not hold", "the stable template is lost",
		"steps from a cache", "a repair waits for its turn",
	} {
		t.Run(mistake, func(t *testing.T) { t.Parallel(); find(t, mistake) })
	}
}

// TestModelFindsMistakesOfData: so does each rule of the data of revisions.
func TestModelFindsMistakesOfData(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{
		"the snapshot of a partition is deleted", "what is chosen is read from a cache",
		"the snapshots of the history are deleted", "a content is named before its snapshot",
		"an earlier content is taken", "every change is taken", "an undo ends with its rollout",
	} {
		t.Run(mistake, func(t *testing.T) { t.Parallel(); find(t, mistake) })
	}
}

// TestModelFindsMistakesOfCities: so does each rule of cities that leave, come and are scaled.
func TestModelFindsMistakesOfCities(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{
		"a scaled cell goes below its floor", "a new city gets the target",
	} {
		t.Run(mistake, func(t *testing.T) { t.Parallel(); find(t, mistake) })
	}
}

// TestLongMistakes has the mistakes of the other tests that take three quarters of their time.
func TestLongMistakes(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{
		"a confirmation with an earlier count", "the last report of a lost cell counts when it returns",
		"reports on an earlier step", "new Instances get the target", "a city that leaves counts",
	} {
		t.Run(mistake, func(t *testing.T) { t.Parallel(); find(t, mistake) })
	}
}

// TestModelFindsRareMistakes takes minutes.
func TestModelFindsRareMistakes(t *testing.T) {
	t.Parallel()
	if *modelSteps < 1000000 {
		t.Skip("it takes minutes; `make model` runs it")
	}
	for _, mistake := range append([]string{"healthy Instances are changed"}, rareOverrideMistakes...) {
		t.Run(mistake, func(t *testing.T) { t.Parallel(); find(t, mistake) })
	}
}

// find fails unless the model finds a mistake.
func find(t *testing.T, mistake string) {
	t.Helper()
	_, err := explore(1000000, *modelSeed, mistake)
	if err == nil {
		t.Fatal("the model does not find it")
	}
	t.Log(err)
}
