// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// cell holds the Instances of the deployments of a fixture, and reports them as hub/projection does.
type cell struct {
	f *fixture
	// templates are the hashes of the templates of the Instances, by their names.
	templates map[string]string
	// broken are the hashes of templates whose Instances never become Available.
	broken []string
	// full is the reason why additional Instances wait; "": they start.
	full string
	// suspended says that the project is suspended: all Instances are stopped, and none is created or replaced.
	suspended bool
	// lost is the city whose cells have no contact: they neither act nor report.
	lost string
	// tells adds conditions to the reports; nil: none.
	tells func(*v1alpha.WorkloadDeployment)
}

func (f *fixture) cell() *cell { return &cell{f: f, templates: map[string]string{}} }

func hashOf(t *testing.T, template *v1alpha.InstanceTemplateSpec) string {
	t.Helper()
	hash, err := templates.Hash(template)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// run gives every Instance its template, all at once, and reports the result.
func (c *cell) run(t *testing.T) {
	t.Helper()
	var list v1alpha.WorkloadDeploymentList
	if err := c.f.Client.List(t.Context(), &list, client.InNamespace(c.f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	progressed := metav1.NewTime(testBegin)
	for i := range list.Items {
		d := &list.Items[i]
		if d.Spec.CityCode == c.lost {
			continue
		}
		newest := hashOf(t, &d.Spec.Template)
		var existing, available, current, held []int
		assigned := d.Spec.DesiredReplicas() + d.Spec.Surge
		delete(c.templates, naming.InstanceName(d.Name, int(assigned)))
		for index := range int(assigned) {
			waits := ""
			if index >= int(d.Spec.DesiredReplicas()) {
				waits = c.full
			}
			if waits == "the cell" {
				break
			}
			hash := c.replace(t, d, index)
			existing = append(existing, index)
			if waits == "quota" {
				held = append(held, index)
			}
			if waits == "" && c.starts(hash) {
				available = append(available, index)
			}
			if hash == newest {
				current = append(current, index)
			}
		}
		counts := v1alpha.ReplicaCounts{
			Replicas: int32(len(existing)), DesiredReplicas: d.Spec.DesiredReplicas(), CurrentReplicas: int32(len(existing)),
			ReadyReplicas: int32(len(available)), AvailableReplicas: int32(len(available)), UpdatedReplicas: int32(len(current)),
		}
		planes.ChangeStatus(t, c.f.Planes, d, func(d *v1alpha.WorkloadDeployment) {
			d.Status.ObservedGeneration, d.Status.AssignedReplicas, d.Status.ReplicaCounts = d.Generation, assigned, counts
			d.Status.Suspended = c.suspended
			confirmFloor(d)
			d.Status.LastProgressTime = nil
			if counts.AvailableReplicas < assigned && !c.suspended {
				d.Status.LastProgressTime = &progressed
			}
			d.Status.Indices = []v1alpha.CellIndices{{
				Cell: strings.ToLower(d.Spec.CityCode), Existing: naming.Format(existing),
				AvailableIndices: naming.Format(available), Held: naming.Format(held),
				Current: naming.Format(current), TemplateHash: newest,
			}}
			if c.tells != nil {
				c.tells(d)
			}
		})
	}
}

// replace gives the Instance at an index the template that it should have now, and returns its hash.
func (c *cell) replace(t *testing.T, d *v1alpha.WorkloadDeployment, index int) string {
	t.Helper()
	name := naming.InstanceName(d.Name, index)
	isKept := d.Spec.Partition != nil && index < int(d.Spec.Partition.Index)
	if hash := c.templates[name]; !c.suspended && (hash == "" || !isKept || slices.Contains(c.broken, hash)) {
		wanted, _ := d.Spec.TemplateAt(index)
		c.templates[name] = hashOf(t, wanted)
	}
	return c.templates[name]
}

func (c *cell) starts(hash string) bool { return !slices.Contains(c.broken, hash) && !c.suspended }

// confirmFloor reports that the cell acts on its newest floor.
func confirmFloor(d *v1alpha.WorkloadDeployment) {
	if floor := d.Spec.Floor; floor != nil {
		d.Status.FloorSequence, d.Status.FloorAvailable, d.Status.FloorInForce = floor.Sequence, d.Status.AvailableReplicas, floor.MinAvailable
	}
}

// settle lets the cell and the controller act until nothing changes, and returns the states of the cities in between,
// such as "DFW 1/2 ORD 0/2".
func (c *cell) settle(t *testing.T) []string {
	t.Helper()
	var states []string
	for range 20 {
		c.run(t)
		if state := c.state(t); len(states) == 0 || states[len(states)-1] != state {
			states = append(states, state)
		}
		if len(c.f.mustReconcile(t)) == 0 {
			return states
		}
	}
	t.Fatalf("it does not settle: %v", states)
	return nil
}

// state returns how many Instances of each city have the Workload's template.
func (c *cell) state(t *testing.T) string {
	t.Helper()
	started, _ := templates.StartedWith(c.f.readWorkload(t))
	wanted := hashOf(t, started)
	var list v1alpha.WorkloadDeploymentList
	if err := c.f.Client.List(t.Context(), &list, client.InNamespace(c.f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	var cities []string
	for i := range list.Items {
		d, updated := &list.Items[i], 0
		for index := range int(d.Spec.DesiredReplicas() + d.Spec.Surge) {
			if c.templates[naming.InstanceName(d.Name, index)] == wanted {
				updated++
			}
		}
		city := fmt.Sprintf("%s %d/%d", d.Spec.CityCode, updated, d.Spec.DesiredReplicas())
		if d.Spec.Surge > 0 {
			city += fmt.Sprintf("+%d", d.Spec.Surge)
		}
		cities = append(cities, city)
	}
	return strings.Join(cities, " ")
}

func (f *fixture) image(t *testing.T, image string) string {
	t.Helper()
	changed := planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Template = planes.Template(image) })
	return hashOf(t, &changed.Spec.Template)
}

func (f *fixture) rolls(t *testing.T, change func(*v1alpha.WorkloadRollout)) {
	t.Helper()
	planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) {
		if w.Spec.Rollout == nil {
			w.Spec.Rollout = &v1alpha.WorkloadRollout{}
		}
		change(w.Spec.Rollout)
	})
}

func (f *fixture) phase(t *testing.T) v1alpha.RolloutPhase {
	t.Helper()
	if r := f.readWorkload(t).Status.Rollout; r != nil {
		return r.Phase
	}
	return ""
}

// rolledOut returns a Workload with 2 Instances in each of DFW and ORD, which are all Available.
func rolledOut(t *testing.T) (*fixture, *cell) {
	t.Helper()
	f := newFixture(t, "DFW ORD SEA")
	f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	c := f.cell()
	c.settle(t)
	if phase := f.phase(t); phase != v1alpha.RolloutComplete {
		t.Fatalf("after the creation the phase is %q", phase)
	}
	return f, c
}

func TestRolloutCityAfterCity(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	f.image(t, "registry.example/app:2")
	got := c.settle(t)
	if want := []string{"DFW 0/2 ORD 0/2", "DFW 1/2 ORD 0/2", "DFW 2/2 ORD 0/2", "DFW 2/2 ORD 2/2"}; !slices.Equal(got, want) {
		t.Errorf("it goes by %q", got)
	}
	status := f.readWorkload(t).Status
	if status.Rollout.Phase != v1alpha.RolloutComplete || status.Rollout.Revision != 2 || status.UpdatedReplicas != 4 {
		t.Errorf("status is %+v, %d updated", status.Rollout, status.UpdatedReplicas)
	}
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		if f.readDeployment(t, name).Spec.Partition != nil {
			t.Errorf("%s has a partition at the end", name)
		}
	}
}

// TestEventOfEachStep: each step of a rollout has one Event, and a Workload that has settled has none.
func TestEventOfEachStep(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	f.image(t, "registry.example/app:2")
	events := 0
	for range 20 {
		c.run(t)
		f.Project.Calls()
		if err := f.reconcile(t); err != nil {
			t.Fatal(err)
		}
		for _, call := range f.Project.Calls() {
			if call.Verb == "event "+eventRollout {
				events++
			}
		}
	}
	// DFW gets it for its first Instance and then for the other one, ORD for both at once.
	if got := c.state(t); got != "DFW 2/2 ORD 2/2" || events != 3 {
		t.Errorf("%d Events of steps, with the cities at %s", events, got)
	}
}

func TestBrokenTemplateStops(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	c.broken = append(c.broken, f.image(t, "registry.example/app:broken"))
	c.settle(t)
	if got := c.state(t); got != "DFW 1/2 ORD 0/2" {
		t.Fatalf("the broken template has %s", got)
	}
	if counts := f.readWorkload(t).Status.ReplicaCounts; counts.UpdatedReplicas != 1 || counts.AvailableReplicas != 3 {
		t.Errorf("counts are %+v", counts)
	}
	f.image(t, "registry.example/app:3")
	if got := c.settle(t); got[1] != "DFW 1/2 ORD 0/2" || got[len(got)-1] != "DFW 2/2 ORD 2/2" || f.phase(t) != v1alpha.RolloutComplete {
		t.Errorf("the correction goes by %q, %s", got, f.phase(t))
	}
}

func TestUndoLeavesHealthyInstances(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	c.broken = append(c.broken, f.image(t, "registry.example/app:broken"))
	c.settle(t)
	ord := f.readDeployment(t, "web-main-ord").Generation
	f.image(t, "registry.example/app:1")
	c.settle(t)
	if got := c.state(t); got != "DFW 2/2 ORD 2/2" || f.phase(t) != v1alpha.RolloutComplete ||
		f.readDeployment(t, "web-main-ord").Generation != ord {
		t.Errorf("it ends with %s, %s", got, f.phase(t))
	}
	if revision := f.readWorkload(t).Status.Rollout.Revision; revision != 3 {
		t.Errorf("the undo is revision %d", revision)
	}
}

func TestOnFailureUndo(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.OnFailure = v1alpha.RolloutUndo })
	c.settle(t)
	c.broken = append(c.broken, f.image(t, "registry.example/app:broken"))
	c.settle(t)
	planes.ChangeStatus(t, f.Planes, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
		meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
			Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProgressDeadlineExceeded,
		})
	})
	c.settle(t)
	if got := c.state(t); got != "DFW 0/2 ORD 0/2" || f.phase(t) != v1alpha.RolloutUndone {
		t.Errorf("it ends with %s, %s", got, f.phase(t))
	}
	if image := f.readWorkload(t).Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image; image != "registry.example/app:broken" {
		t.Errorf("the Workload's image is %s", image)
	}
}

func TestPauses(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	f.rolls(t, func(r *v1alpha.WorkloadRollout) {
		r.CityOrder, r.PauseAfter = []string{"ord"}, new(intstr.FromString(v1alpha.PauseAfterFirstCity))
	})
	f.image(t, "registry.example/app:2")
	c.settle(t)
	if got := c.state(t); got != "DFW 0/2 ORD 2/2" || f.phase(t) != v1alpha.RolloutPaused {
		t.Fatalf("it pauses with %s, %s", got, f.phase(t))
	}
	planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Annotations = map[string]string{v1alpha.AnnotationRolloutResumed: w.Status.Rollout.TemplateHash}
	})
	c.settle(t)
	if got := c.state(t); got != "DFW 2/2 ORD 2/2" {
		t.Errorf("resumed, it ends with %s", got)
	}
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.Paused = true })
	f.image(t, "registry.example/app:3")
	c.settle(t)
	if got := c.state(t); got != "DFW 0/2 ORD 0/2" || f.phase(t) != v1alpha.RolloutPaused {
		t.Errorf("paused, it ends with %s, %s", got, f.phase(t))
	}
}

// TestNewCity: during a rollout a new city has the earlier template until its turn.
func TestNewCity(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	c.broken = append(c.broken, f.image(t, "registry.example/app:broken"))
	c.settle(t)
	planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", "ORD", "SEA"} })
	c.settle(t)
	if got := c.state(t); got != "DFW 1/2 ORD 0/2 SEA 0/2" {
		t.Errorf("it ends with %s", got)
	}
	f.image(t, "registry.example/app:3")
	c.settle(t)
	if got := c.state(t); got != "DFW 2/2 ORD 2/2 SEA 2/2" {
		t.Errorf("corrected, it ends with %s", got)
	}
}

// TestTheFirstRevision: the deployments of a new Workload do not wait for its history, which is recorded before the
// status that has its number. A template that is replaced before that is recorded as well.
func TestTheFirstRevision(t *testing.T) {
	t.Parallel()
	for name, wanted := range map[string][]int64{
		"one template": {1}, "another template before the status": {1, 2}, "another template and city before the status": {1, 2},
	} {
		f := newFixture(t, "DFW ORD")
		f.reconciler.Passing = pace.NewWrites[mcreconcile.Request](f.clock)
		f.requeues = true
		f.workload(t, "main DFW")
		f.Project.Calls()
		f.mustReconcileKeepingCalls(t)
		for _, call := range f.Project.Calls() {
			if strings.HasPrefix(call.Kind, "WorkloadRevision") {
				t.Errorf("%s: before the status, it requests %+v", name, call)
			}
		}
		if len(wanted) > 1 {
			planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) {
				w.Spec.Template = planes.Template("registry.example/app:2")
				if strings.Contains(name, "city") {
					w.Spec.Placements[0].CityCodes = []string{"ORD"}
				}
			})
			f.mustReconcile(t)
		}
		f.clock.SetTime(f.clock.Now().Add(pace.Limit))
		f.mustReconcile(t)
		status := f.readWorkload(t).Status.Rollout
		if got := f.revisions(t); !slices.Equal(got, wanted) || status == nil || status.Revision != int64(len(wanted)) {
			t.Errorf("%s: the revisions are %v, the status is %+v", name, got, status)
		}
	}
}

// revisions returns the numbers of the recorded templates.
func (f *fixture) revisions(t *testing.T) []int64 {
	t.Helper()
	var list v1alpha.WorkloadRevisionList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	var numbers []int64
	for i := range list.Items {
		numbers = append(numbers, list.Items[i].Spec.Revision)
	}
	slices.Sort(numbers)
	return numbers
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.RevisionHistoryLimit = new(int32(2)) })
	for version := range 5 {
		f.image(t, fmt.Sprintf("registry.example/app:v%d", version))
		c.settle(t)
	}
	if got := f.revisions(t); !slices.Equal(got, []int64{4, 5, 6}) {
		t.Errorf("the revisions are %v", got)
	}
}

// TestRolloutOfARestoredHub: the hub was restored from a backup, and the project shows a report from before the rollout
// for a while. No city gets a step by it, and the rollout continues with the next report.
func TestRolloutOfARestoredHub(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	f.workload(t, "main DFW ORD")
	c := f.cell()
	c.settle(t)
	earlier := f.readDeployment(t, "web-main-dfw").Status
	f.image(t, "registry.example/app:2")
	f.mustReconcile(t)
	c.run(t)
	f.mustReconcile(t)
	before := f.readDeployment(t, "web-main-dfw")
	if hashOf(t, &before.Spec.Template) != hashOf(t, &f.readWorkload(t).Spec.Template) {
		t.Fatal("the rollout has not begun")
	}
	planes.ChangeStatus(t, f.Planes, before, func(d *v1alpha.WorkloadDeployment) { d.Status = *earlier.DeepCopy() })
	for range 3 {
		f.mustReconcile(t)
	}
	if now := f.readDeployment(t, "web-main-dfw"); now.Generation != before.Generation {
		t.Errorf("by a report from before it takes a step: %+v", now.Spec.Partition)
	}
	if ord := f.readDeployment(t, "web-main-ord"); ord.Generation != 1 {
		t.Error("by a report from before the next city gets the template")
	}
	c.settle(t)
	if status := f.readWorkload(t).Status.Rollout; status.Phase != v1alpha.RolloutComplete {
		t.Errorf("the rollout does not continue: %+v", status)
	}
}
