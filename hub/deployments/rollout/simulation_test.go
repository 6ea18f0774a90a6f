// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// world is a simulated project with its cities.
type world struct {
	random        *rand.Rand
	target        string
	proven        string
	versions      int
	atOnce, batch int
	maxSurge      int
	cities        map[string]*city
	parallel      bool
	paused        bool
	// calm: neither scaling nor faults change how many Instances are available: then the limit holds at every moment.
	calm bool
	// faulty: Instances fail by themselves; faults is the number of failed Instances. An Instance that is allowed to
	// have the target and fails is replaced at once.
	faults int
	faulty bool
	// mistake changes what the controller reads or does.
	mistake mistake
	// first is the template of the creation: if it is broken, it is broken everywhere.
	first string
	log   []string
	// violation is a violation that a cell has found.
	violation string
}

// city is a deployment in the project, and the Instances in its cell.
type city struct {
	name string
	// stored are all versions of the deployment, the newest last.
	stored []deployment
	// cell is the version that the cell has, and instances are its Instances by index.
	cell      deployment
	instances map[int]*instance
	// sent are reports that are not delivered yet.
	sent []report
	// full says that the cell has no capacity for additional Instances.
	full bool
}

type deployment struct {
	generation int
	template   string
	partition  *Partition
	cautious   bool
	replicas   int
	surge      int
	status     report
}

// total is how many Instances a cell runs.
func (d *deployment) total() int { return d.replicas + d.surge }

type report struct {
	generation int
	template   string
	instances  []Instance
	missing    int
}

type instance struct {
	template  string
	available bool
}

// mistake is a deliberate mistake in a rule.
type mistake struct {
	input  func(*State)
	output func(*State, *Steps)
	// cached takes steps from a stale cache, and restore gives Instances below a partition their template back.
	cached, restore bool
}

func isBroken(template string) bool { return strings.HasPrefix(template, "broken") }

func (c *city) newest() *deployment { return &c.stored[len(c.stored)-1] }

func newWorld(seed uint64, m mistake) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), target: "good-0", first: "good-0", cities: map[string]*city{}, mistake: m}
	w.parallel, w.calm, w.faulty = w.random.IntN(2) == 0, w.random.IntN(2) == 0, w.random.IntN(2) == 0
	w.atOnce, w.batch, w.maxSurge = 1+w.random.IntN(2), w.random.IntN(3), w.random.IntN(4)-1
	for _, name := range []string{"a", "b", "c"}[:1+w.random.IntN(3)] {
		w.add(name, w.target)
	}
	for range 200 {
		w.settle()
	}
	w.proven = w.target
	return w
}

func (w *world) add(name, template string) {
	spec := deployment{generation: 1, template: template, replicas: 1 + w.random.IntN(5)}
	w.cities[name] = &city{name: name, stored: []deployment{spec}, cell: spec, instances: map[int]*instance{}, full: w.random.IntN(4) == 0}
}

// settle lets a cell receive, act and report.
func (w *world) settle() {
	for _, name := range slices.Sorted(maps.Keys(w.cities)) {
		c := w.cities[name]
		c.cell = *c.newest()
		w.act(c)
		w.start(c)
		c.send()
		w.deliver(c)
	}
}

func (w *world) limit(n int) int { return max(1, n/4) }

// room returns how many Instances a cell takes down at once: more than the limit over all cities.
func room(n int) int { return max(1, n/2) }

// act plays cell/deployments.
func (w *world) act(c *city) {
	maps.DeleteFunc(c.instances, func(index int, _ *instance) bool { return index >= c.cell.total() })
	w.replace(c)
	w.create(c)
}

// templateAt returns the template of a new Instance at an index.
func (c *city) templateAt(index int) string {
	if p := c.cell.partition; p != nil && index < p.Index {
		return p.Template
	}
	return c.cell.template
}

// outdated reports whether the Instance at an index must be replaced.
func (w *world) outdated(c *city, index int) bool {
	i := c.instances[index]
	if i == nil || i.template == c.templateAt(index) {
		return false
	}
	below := c.cell.partition != nil && index < c.cell.partition.Index
	return !below || !i.available || w.mistake.restore
}

// unavailable returns how many Instances are not Available.
func (c *city) unavailable() int {
	count := 0
	for index := range c.cell.total() {
		if i := c.instances[index]; i == nil || !i.available {
			count++
		}
	}
	return count
}

// replace deletes outdated Instances.
func (w *world) replace(c *city) {
	unavailable, limit := c.unavailable(), 1
	if w.parallel && !c.cell.cautious {
		limit = room(c.cell.total())
	}
	for index := c.cell.total() - 1; index >= 0; index-- {
		if !w.outdated(c, index) {
			continue
		}
		if !c.instances[index].available {
			delete(c.instances, index)
			if !w.parallel {
				break
			}
			continue
		}
		if unavailable < limit {
			if i := c.instances[index]; i.template == w.target && c.cell.template == w.target {
				w.violation = fmt.Sprintf("%s: Available Instance %d has the target and is replaced", c.name, index)
			}
			unavailable++
			delete(c.instances, index)
		}
	}
}

// create creates missing Instances, some of them later.
func (w *world) create(c *city) {
	for index := range c.cell.total() {
		if index >= c.cell.replicas && c.full {
			break
		}
		if c.instances[index] == nil && w.random.IntN(2) == 0 {
			c.instances[index] = &instance{template: c.templateAt(index)}
		}
		if i := c.instances[index]; !w.parallel && (i == nil || !i.available) {
			break
		}
	}
}

// start lets Instances of good templates become Available.
func (w *world) start(c *city) {
	for _, index := range slices.Sorted(maps.Keys(c.instances)) {
		if i := c.instances[index]; !isBroken(i.template) && w.random.IntN(2) == 0 {
			i.available = true
		}
	}
}

func (c *city) send() {
	r := report{generation: c.cell.generation, template: c.cell.template}
	for _, index := range slices.Sorted(maps.Keys(c.instances)) {
		i := c.instances[index]
		r.instances = append(r.instances, Instance{Index: index, Updated: i.template == c.cell.template, Available: i.available})
	}
	r.missing = max(0, c.cell.total()-len(c.instances))
	c.sent = append(c.sent, r)
}

// deliver delivers the newest report; earlier ones are lost.
func (w *world) deliver(c *city) {
	if len(c.sent) == 0 {
		return
	}
	next := *c.newest()
	next.status = c.sent[len(c.sent)-1]
	c.sent = nil
	c.stored = append(c.stored, next)
}

// view returns the state as a controller reads it; each deployment may be an earlier version.
func (w *world) view(stale bool) (State, []string) {
	s := State{Target: w.target, Proven: w.proven == w.target, Paused: w.paused, CitiesAtOnce: w.atOnce, Batch: w.batch, MaxSurge: w.maxSurge}
	var names []string
	total := 0
	for _, name := range slices.Sorted(maps.Keys(w.cities)) {
		c := w.cities[name]
		at := len(c.stored) - 1
		if stale {
			at = max(0, at-w.random.IntN(4))
		}
		d := c.stored[at]
		names = append(names, name)
		total += d.replicas
		seen := City{
			Name: name, Code: name, Template: d.template, Partition: d.partition, Desired: d.replicas, Cells: 1, Room: 1, Ordered: !w.parallel,
			Observed: d.status.generation == d.generation, Missing: d.status.missing, Instances: slices.Clone(d.status.instances), Surge: d.surge,
		}
		seen.SurgeLate = c.full && seen.Observed && len(seen.Instances) < d.total()
		if d.status.template != d.template {
			for i := range seen.Instances {
				seen.Instances[i].Updated = false
			}
		}
		if w.parallel {
			seen.Room = room(d.total())
		}
		s.Cities = append(s.Cities, seen)
	}
	s.MaxUnavailable = w.limit(total)
	return s, names
}

// reconcile plays hub/deployments: if its cache, which may be stale, results in steps, it reads the API server. It may
// be killed between two writes.
func (w *world) reconcile(stale bool) Steps {
	s, names := w.view(stale)
	result := w.next(&s)
	if len(result.Take) > 0 && !w.mistake.cached {
		s, names = w.view(false)
		result = w.next(&s)
	}
	for _, step := range result.Take {
		if stale && w.random.IntN(8) == 0 {
			return result
		}
		w.write(w.cities[names[step.City]], step)
	}
	if result.Phase == Complete && !stale {
		w.proven = w.target
	}
	return result
}

// next is Plan with a mistake.
func (w *world) next(s *State) Steps {
	if w.mistake.input != nil {
		w.mistake.input(s)
	}
	result := Plan(s)
	if w.mistake.output != nil {
		w.mistake.output(s, &result)
	}
	return result
}

func (w *world) write(c *city, step Step) {
	next := *c.newest()
	next.generation++
	if !step.Held {
		next.template = w.target
	}
	next.partition, next.cautious, next.surge = nil, step.Cautious, step.Surge
	if !step.Released {
		next.partition = &Partition{Index: step.Index, Template: step.Stable}
	}
	c.stored = append(c.stored, next)
	w.log = append(w.log, fmt.Sprintf("%s: %+v of %s", c.name, step, next.template))
}

// scale changes the number of Instances of a city, with the partition that Plan requests for it.
func (w *world) scale(c *city) {
	next := *c.newest()
	before := next.replicas
	next.replicas = 1 + w.random.IntN(6)
	next.generation++
	s := State{Target: w.target, Paused: true, Cities: []City{{
		Name: c.name, Code: c.name, Template: next.template, Partition: next.partition, Grows: next.replicas > before, Surge: next.surge,
	}}}
	for _, step := range w.next(&s).Take {
		next.partition = &Partition{Index: step.Index, Template: step.Stable}
	}
	c.stored = append(c.stored, next)
	w.log = append(w.log, fmt.Sprintf("%s: scaled to %d", c.name, next.replicas))
}

// step performs a random action.
func (w *world) step() {
	names := slices.Sorted(maps.Keys(w.cities))
	c := w.cities[names[w.random.IntN(len(names))]]
	switch event := w.random.IntN(100); {
	case event < 25:
		w.reconcile(w.random.IntN(2) == 0)
	case event < 40:
		c.cell = *c.newest()
	case event < 60:
		w.act(c)
	case event < 75:
		w.start(c)
	case event < 85:
		c.send()
	case event < 95:
		w.deliver(c)
	case event < 96:
		w.change()
	case w.calm || event == 99 && !w.faulty:
	case event < 97:
		w.scale(c)
	case event < 98:
		w.resize(c)
	case event < 99:
		w.paused = !w.paused
	default:
		w.fail(c)
	}
}

// fail breaks an Instance.
func (w *world) fail(c *city) {
	indices := slices.Sorted(maps.Keys(c.instances))
	if len(indices) == 0 {
		return
	}
	if i := c.instances[indices[w.random.IntN(len(indices))]]; i.available {
		i.available = false
		w.faults++
		w.log = append(w.log, c.name+": one fails")
	}
}

// change sets a new template, or undoes one.
func (w *world) change() {
	w.versions++
	switch w.random.IntN(4) {
	case 0:
		w.target = w.proven
	case 1:
		w.target = fmt.Sprintf("broken-%d", w.versions)
	default:
		w.target = fmt.Sprintf("good-%d", w.versions)
	}
	w.log = append(w.log, "target "+w.target)
}

// resize adds a city, or removes one.
func (w *world) resize(c *city) {
	if w.cities["d"] == nil {
		s, _ := w.view(false)
		w.add("d", Newcomer(&s))
		w.log = append(w.log, "added d with "+w.cities["d"].cell.template)
		return
	}
	if len(w.cities) > 1 {
		delete(w.cities, c.name)
		w.log = append(w.log, "removed "+c.name)
	}
}
