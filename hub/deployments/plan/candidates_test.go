// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// candidateCities are the cities of a model in which cities are lost and return.
const candidateCities = "DFW FRA JFK LHR ORD SEA"

// mistake is a deliberate mistake of the hub, which the model must find.
type mistake string

const (
	// doubtIsLoss takes a city in doubt for lost.
	doubtIsLoss mistake = "doubt is loss"
	// noBrake counts cities that do not exist.
	noBrake mistake = "no brake"
	// clockRunsOn keeps the time since when a city was lost first.
	clockRunsOn mistake = "the clock runs on"
	// believesStart takes Instances that have not started for Available.
	believesStart mistake = "Instances that start are Available"
)

// candidates is a Workload whose cities are lost, found, doubted and cordoned in any order, while its candidates, their number and its
// template change.
type candidates struct {
	*fixture
	*rand.Rand
	cell    *cell
	wrong   mistake
	truth   map[string]cells.Health
	since   map[string]time.Time
	lostFor map[string]time.Time
	version int
	moves   []string
	fault   string
}

func newCandidates(t *testing.T, seed uint64, wrong mistake) *candidates {
	t.Helper()
	c := &candidates{
		fixture: newFixture(t, candidateCities), Rand: rand.New(rand.NewPCG(seed, 11)), wrong: wrong,
		truth: map[string]cells.Health{}, since: map[string]time.Time{}, lostFor: map[string]time.Time{}, version: 1,
	}
	c.requeues, c.cell = true, c.fixture.cell()
	for city := range strings.FieldsSeq(candidateCities) {
		c.set(city, cells.Able)
	}
	c.workload(t, "main DFW ORD SEA LHR")
	change(t, c.fixture, c.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: 2, Failover: &v1alpha.PlacementFailover{}}
		w.Spec.Disruption = &v1alpha.WorkloadDisruption{MinAvailable: new(intstr.FromString("75%"))}
	})
	c.settle(t)
	return c
}

// set changes the truth about a city, and notes since when it runs Instances, does not, or is in doubt.
func (c *candidates) set(city string, health cells.Health) {
	isDown := func(h cells.Health) bool { return h == cells.Lost || h == cells.Closed }
	if before := c.truth[city]; c.since[city].IsZero() || before != health && (!isDown(before) || !isDown(health)) {
		c.since[city] = c.clock.Now()
	}
	c.truth[city] = health
}

// facts is the health of the cities as the hub believes it.
func (c *candidates) facts() map[string]cells.Health {
	result := maps.Clone(c.truth)
	for city, health := range result {
		if health == cells.InDoubt && c.wrong == doubtIsLoss {
			result[city] = cells.Lost
		}
	}
	for i := range 20 {
		if c.wrong == noBrake {
			result[fmt.Sprintf("X%d", i)] = cells.Able
		}
	}
	return result
}

// available is how many Instances really are Available in a city.
func (c *candidates) available(d *v1alpha.WorkloadDeployment) int32 {
	if c.truth[d.Spec.CityCode] != cells.Able || c.stuck == d.Spec.CityCode || !d.DeletionTimestamp.IsZero() {
		return 0
	}
	return d.Status.AvailableReplicas
}

func (c *candidates) all(t *testing.T) (sum int32) {
	t.Helper()
	for _, name := range c.namesOf(v1alpha.KindWorkloadDeployment) {
		sum += c.available(c.readDeployment(t, name))
	}
	return sum
}

// round lets every party act once, and checks what the hub has done. It returns the number of its writes.
func (c *candidates) round(t *testing.T) int {
	t.Helper()
	c.health = maps.Clone(c.truth)
	if stuck := c.stuck; c.wrong == believesStart {
		c.stuck = ""
		c.cell.run(t)
		c.stuck = stuck
	} else {
		c.cell.run(t)
	}
	before := c.all(t)
	c.spoil(t)
	c.health = c.facts()
	writes := len(c.mustReconcile(t))
	c.withdraw(t)
	c.check(t, before)
	return writes
}

// spoil lets the clocks run on from the first time that a city was lost.
func (c *candidates) spoil(t *testing.T) {
	t.Helper()
	next := slices.Clone(c.readWorkload(t).Status.RecordOf("main"))
	if c.wrong != clockRunsOn || len(next) == 0 {
		return
	}
	for i := range next {
		switch since := c.lostFor[next[i].City]; {
		case next[i].Since == nil:
		case since.IsZero():
			c.lostFor[next[i].City] = next[i].Since.Time
		case next[i].Phase == v1alpha.CityRunning:
			next[i].Since = &metav1.Time{Time: since}
		}
	}
	changeStatus(t, c.fixture, c.readWorkload(t), func(w *v1alpha.Workload) { w.Status.Placements[0].Cities = next })
}

func (c *candidates) fail(format string, arguments ...any) {
	if c.fault == "" {
		c.fault = fmt.Sprintf(format, arguments...)
	}
}

// check compares what the hub has done with the truth.
func (c *candidates) check(t *testing.T, before int32) {
	t.Helper()
	w := c.readWorkload(t)
	c.checkRecord(w)
	minimum := int32(0)
	if w.Status.Disruption != nil {
		minimum = w.Status.Disruption.MinAvailable
	}
	if after := c.all(t); before >= minimum && after < minimum {
		c.fail("the hub's own writes leave %d of %d Available, at least %d: %v", after, before, minimum, c.writes)
	}
	if len(c.writes) > 0 && strings.HasPrefix(c.writes[0], "choose") && c.planned != nil && c.planned.Writes[0].Notes != nil {
		for _, note := range c.planned.Writes[0].Notes {
			c.checkNote(note.Reason, note.Message)
		}
	}
}

// checkRecord checks that no more cities are chosen than wanted, and that each city that was replaced has a substitute that runs.
func (c *candidates) checkRecord(w *v1alpha.Workload) {
	record, phases := w.Status.RecordOf("main"), map[string]v1alpha.PlacementCityPhase{}
	count := map[v1alpha.PlacementCityPhase]int{}
	for i := range record {
		phases[record[i].City] = record[i].Phase
		count[record[i].Phase]++
	}
	if count[v1alpha.CityRunning] > int(w.Spec.Placements[0].Spread.Cities) && w.Status.ObservedGeneration == w.Generation ||
		count[v1alpha.CityReturning] > 1 {
		c.fail("too many cities are chosen: %+v", record)
	}
	for i := range record {
		if record[i].Phase != v1alpha.CityRunning && phases[record[i].ReplacedBy] != v1alpha.CityRunning {
			c.fail("%s is replaced by a city that does not run: %+v", record[i].City, record)
		}
	}
}

// checkNote checks that a city that is replaced was lost for as long as it must be.
func (c *candidates) checkNote(reason, message string) {
	if reason != "CityReplaced" {
		return
	}
	if strings.Contains(message, "is left") {
		c.checkLeft(message)
		return
	}
	city, lost := strings.Fields(strings.TrimPrefix(message, "Placement main: "))[0], 0
	for _, health := range c.truth {
		if health == cells.Lost {
			lost++
		}
	}
	least := time.Minute
	if lost > 2 {
		least = 30 * time.Minute
	}
	if c.held[city] {
		c.fail("%s, which an operator holds, is replaced", city)
	}
	if health := c.truth[city]; health == cells.InDoubt || health == cells.Able || c.clock.Now().Sub(c.since[city]) < least {
		c.fail("%s, which is %q for %s while %d are lost, is replaced", city, health, c.clock.Now().Sub(c.since[city]), lost)
	}
}

// checkLeft checks that a city that is left by hand is replaced by a city that no operator holds.
func (c *candidates) checkLeft(message string) {
	_, by, _ := strings.Cut(message, "asks: ")
	if by = strings.Fields(by)[0]; c.held[by] || c.truth[by] != cells.Able {
		c.fail("%s gets Instances, which is %q, and the held cities are %v", by, c.truth[by], c.held)
	}
}

// settle lets all parties act until nothing changes.
func (c *candidates) settle(t *testing.T) {
	t.Helper()
	quiet := 0
	for range 80 {
		if quiet++; c.round(t) > 0 {
			quiet = 0
		}
		if quiet == 2 {
			return
		}
	}
	if c.wrong == "" {
		c.fail("it does not settle: %+v", c.readWorkload(t).Status.RecordOf("main"))
	}
}

// move changes one thing.
func (c *candidates) move(t *testing.T) {
	t.Helper()
	list := strings.Fields(candidateCities)
	city := list[c.IntN(len(list))]
	placement := func(mutate func(*v1alpha.WorkloadPlacement)) {
		change(t, c.fixture, c.readWorkload(t), func(w *v1alpha.Workload) { mutate(&w.Spec.Placements[0]) })
	}
	note := func(of ...any) {
		c.moves = append(c.moves, fmt.Sprint(append([]any{c.clock.Now().Format("15:04:05"), " "}, of...)...))
	}
	switch c.IntN(17) {
	case 0, 1, 2:
		c.set(city, cells.Lost)
		note("lose ", city)
	case 3, 4:
		c.set(city, cells.Able)
		note("find ", city)
	case 5:
		c.set(city, cells.InDoubt)
		note("doubt ", city)
	case 6:
		c.set(city, cells.Closed)
		note("cordon ", city)
	case 7:
		c.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		count := 1 + c.IntN(3)
		placement(func(p *v1alpha.WorkloadPlacement) {
			p.CityCodes, p.Spread.Cities = list[:count+c.IntN(len(list)-count+1)], int32(count)
		})
		note("candidates ", c.readWorkload(t).Spec.Placements[0].CityCodes, count)
	case 8:
		c.version++
		c.image(t, fmt.Sprintf("registry.example/app:%d", c.version))
		note("image ", c.version)
	case 9:
		if c.stuck = ""; c.IntN(2) == 0 {
			c.stuck = city
		}
		note("stuck ", c.stuck)
	case 10:
		// A project that was restored without its statuses.
		changeStatus(t, c.fixture, c.readWorkload(t), func(w *v1alpha.Workload) { w.Status.Placements = nil })
		note("no record")
	case 11:
		leave := []string{"", city, city + "=" + list[c.IntN(len(list))]}[c.IntN(3)]
		c.annotate(t, v1alpha.AnnotationLeaveCities, leave)
		note("leave ", leave)
	case 12:
		if c.held = nil; c.IntN(2) == 0 {
			c.held = map[string]bool{city: true}
		}
		note("hold ", c.held)
	case 13:
		c.annotate(t, v1alpha.AnnotationReturnRequested, c.clock.Now().UTC().Format(time.RFC3339))
		note("return")
	default:
		wait := []time.Duration{10 * time.Second, 50 * time.Second, 3 * time.Minute, 12 * time.Minute, 40 * time.Minute}[c.IntN(5)]
		c.clock.SetTime(c.clock.Now().Add(wait))
		note("wait ", wait)
	}
}
