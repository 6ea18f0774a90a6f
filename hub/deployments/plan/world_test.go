// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// namespace has the Workload of each test.
const namespace = "shop"

// locations are one location in each city that the project may use, and others.
type locations struct {
	cities string
	others []cities.Location
	err    error
}

func (l *locations) list() ([]cities.Location, error) {
	return append(simulated.Locations(l.cities), l.others...), l.err
}

// networks are the networks that the project lacks.
type networks struct{ missing []string }

// fixture is a project in memory, in which rounds of plans maintain the deployments of Workload web. Each round begins with what is
// stored, as on another replica.
type fixture struct {
	store
	history   history
	locations *locations
	networks  *networks
	// types are the instance types; nil: no size is recorded. defaultType is the type of Workloads that name none.
	types       *catalogue
	defaultType string
	hostnames   naming.Hostnames
	// requeues says that the Workload may be requeued.
	requeues bool
	// addresses are the answers of the names of the Workload; nil: it has none.
	addresses *answers
	// lacking are the cities without what a wanted exposure needs.
	lacking []string
	// health of the cities as the hub knows it; nil: it is not known.
	health map[string]cells.Health
	// held are cities whose failovers an operator holds.
	held map[string]bool
	// room is how many Instances fit in the cells of cities.
	room map[string]int32
	// stuck is a city in which no Instance starts, and crowded one whose cells lack the capacity for them.
	stuck, crowded string
	// drain is how long Instances run by default after their city leaves.
	drain time.Duration
	// writes and events of the last reconcile.
	writes []string
	events []plan.Event
	// planned is its plan.
	planned *plan.Plan
}

// testBegin is when a test begins.
var testBegin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newFixture(t *testing.T, cities string) *fixture {
	t.Helper()
	return &fixture{
		store: newStore(testingclock.NewFakePassiveClock(testBegin)), history: history{},
		locations: &locations{cities: cities}, networks: &networks{},
	}
}

// workload creates Workload web with a placement for each name and its cities.
func (f *fixture) workload(t *testing.T, placements ...string) *v1alpha.Workload {
	t.Helper()
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	workload.Spec.Template = simulated.Template("registry.example/app:1")
	workload.Spec.Placements = placementsOf(placements)
	return create(t, f, workload)
}

// placementsOf parses placements such as "main DFW ORD".
func placementsOf(placements []string) []v1alpha.WorkloadPlacement {
	var result []v1alpha.WorkloadPlacement
	for _, placement := range placements {
		words := strings.Fields(placement)
		result = append(result, v1alpha.WorkloadPlacement{
			Name: words[0], CityCodes: words[1:], ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 2},
		})
	}
	return result
}

// reconcile reconciles a new Workload twice, like the event of its finalizer.
func (f *fixture) reconcile(t *testing.T) error {
	t.Helper()
	f.writes, f.events = nil, nil
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	found := f.read(t, workload)
	after, err := f.once(t)
	if found && err == nil && len(workload.Finalizers) == 0 {
		after, err = f.once(t)
	}
	if err == nil && after != 0 && !f.requeues && f.readWorkload(t).Status.LastProgressTime == nil {
		t.Errorf("it is requeued after %s, without a deadline", after)
	}
	return err
}

// mustReconcile reconciles and returns the writes.
func (f *fixture) mustReconcile(t *testing.T) []string {
	t.Helper()
	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	return f.writes
}

// told returns the reasons of the Events of the last reconcile.
func (f *fixture) told() []string {
	var reasons []string
	for _, event := range f.events {
		reasons = append(reasons, event.Reason)
	}
	return reasons
}

// withdraw ends the deletion of deployments, as propagation does when none of their objects is left on the hub.
func (f *fixture) withdraw(t *testing.T) {
	t.Helper()
	for _, name := range f.namesOf(v1alpha.KindWorkloadDeployment) {
		if d := f.readDeployment(t, name); !d.DeletionTimestamp.IsZero() {
			change(t, f, d, func(d *v1alpha.WorkloadDeployment) {
				d.Finalizers = slices.DeleteFunc(d.Finalizers, func(finalizer string) bool { return finalizer == v1alpha.FinalizerPropagation })
			})
		}
	}
}

func (f *fixture) readWorkload(t *testing.T) *v1alpha.Workload {
	t.Helper()
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	decode(t, f.stored(t, workload), workload)
	return workload
}

func (f *fixture) readDeployment(t *testing.T, name string) *v1alpha.WorkloadDeployment {
	t.Helper()
	deployment := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	decode(t, f.stored(t, deployment), deployment)
	return deployment
}

// names returns the names of all deployments in the namespace.
func (f *fixture) names(t *testing.T) string {
	t.Helper()
	return strings.Join(f.namesOf(v1alpha.KindWorkloadDeployment), " ")
}

func (f *fixture) image(t *testing.T, image string) string {
	t.Helper()
	changed := change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Template = simulated.Template(image) })
	return simulated.Hash(t, &changed.Spec.Template)
}

func (f *fixture) rolls(t *testing.T, mutate func(*v1alpha.WorkloadRollout)) {
	t.Helper()
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
		if w.Spec.Rollout == nil {
			w.Spec.Rollout = &v1alpha.WorkloadRollout{}
		}
		mutate(w.Spec.Rollout)
	})
}

func (f *fixture) phase(t *testing.T) v1alpha.RolloutPhase {
	t.Helper()
	if r := f.readWorkload(t).Status.Rollout; r != nil {
		return r.Phase
	}
	return ""
}

// revisions returns the numbers of the recorded templates.
func (f *fixture) revisions(*testing.T) []int64 {
	var numbers []int64
	for _, revision := range f.history {
		numbers = append(numbers, revision.Revision)
	}
	slices.Sort(numbers)
	return numbers
}

// cell plays the cells of a fixture.
type cell struct {
	simulated.Cell
	f *fixture
}

func (f *fixture) cell() *cell { return &cell{Cell: simulated.New(testBegin), f: f} }

// run gives every Instance its template, all at once, and reports the result.
func (c *cell) run(t *testing.T) {
	t.Helper()
	for _, name := range c.f.namesOf(v1alpha.KindWorkloadDeployment) {
		changeStatus(t, c.f, c.f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) { c.report(t, d) })
	}
}

// settle lets the cell and the controller act until nothing changes, and returns the states of the cities in between,
// such as "DFW 1/2 ORD 0/2".
func (c *cell) settle(t *testing.T) []string {
	t.Helper()
	return simulated.World{
		Run: func() { c.run(t) }, Reconcile: func() int { return len(c.f.mustReconcile(t)) }, State: func() string { return c.state(t) },
	}.Settle(t)
}

// state returns how many Instances of each city have the Workload's template.
func (c *cell) state(t *testing.T) string {
	t.Helper()
	var deployments []v1alpha.WorkloadDeployment
	for _, name := range c.f.namesOf(v1alpha.KindWorkloadDeployment) {
		deployments = append(deployments, *c.f.readDeployment(t, name))
	}
	return c.State(t, c.f.readWorkload(t), deployments)
}

func (f *fixture) wrote(verb string, obj object) {
	f.writes = append(f.writes, fmt.Sprintf("%s %s %s", verb, kindOf(obj), obj.GetName()))
}
