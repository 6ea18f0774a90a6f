// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestGone: a cell without a share has released its indices when it reports that, or when its report is no longer
// waited for.
func TestGone(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) *metav1.MicroTime { return new(metav1.NewMicroTime(now.Add(-d))) }
	ready := cells.Cell{Name: "a", City: "iad", Ready: true}
	tests := map[string]struct {
		cell   cells.Cell
		since  *metav1.MicroTime
		sent   bool
		left   []v1alpha.LeavingDeployment
		always bool
		// reached is since when another cell is reached; 0: for long.
		reached time.Duration
		want    bool
	}{
		"it has just lost its last index": {cell: ready, want: false},
		"it says nothing":                 {cell: ready, since: ago(time.Hour), want: false},
		"it says that nothing is left": {
			cell: ready, since: ago(0), left: []v1alpha.LeavingDeployment{
				{Namespace: "ns-1", Name: "web", Since: now.UTC().Format(metav1.RFC3339Micro)},
			}, want: true,
		},
		"it says so, and Karmada sends it there": {
			cell: ready, since: ago(0), sent: true, left: []v1alpha.LeavingDeployment{
				{Namespace: "ns-1", Name: "web", Since: now.UTC().Format(metav1.RFC3339Micro)},
			}, want: false,
		},
		"it said so of an earlier departure": {
			cell: ready, since: ago(0), left: []v1alpha.LeavingDeployment{
				{Namespace: "ns-1", Name: "web", Since: now.UTC().Add(-time.Second).Format(metav1.RFC3339Micro)},
			}, want: false,
		},
		"it said so of another deployment": {
			cell: ready, since: ago(0), left: []v1alpha.LeavingDeployment{
				{Namespace: "ns-1", Name: "db", Since: now.UTC().Format(metav1.RFC3339Micro)},
			}, want: false,
		},
		"it is not there any more": {cell: cells.Cell{Name: "b"}, want: true},
		"it is gone for good":      {cell: cells.Cell{Name: "a", City: "iad", Gone: true}, want: true},
		"it is not Ready for a moment": {
			cell: cells.Cell{Name: "a", City: "iad", Since: now.Add(-time.Second)}, since: ago(time.Hour), want: false,
		},
		"it is lost": {cell: cells.Cell{Name: "a", City: "iad", Since: now.Add(-failoverAfter)}, want: true},
		"all were lost, and another one is reached again": {
			cell: cells.Cell{Name: "a", City: "iad", Since: now.Add(-time.Hour)}, reached: failoverAfter, want: false,
		},
		"it has no city, and was not reached": {
			cell: cells.Cell{Name: "a", Ready: true, Since: now.Add(-time.Second)}, since: ago(time.Hour), want: false,
		},
		"it is lost, and what it runs never moves": {
			cell: cells.Cell{Name: "a", City: "iad", Since: now.Add(-failoverAfter)}, always: true, want: false,
		},
		"it has no city, and no agent": {cell: cells.Cell{Name: "a", Ready: true}, since: ago(time.Second), want: false},
		"it has had no city for long":  {cell: cells.Cell{Name: "a", Ready: true}, since: ago(failoverAfter), want: true},
		"it has had no city for long, but still a Work": {
			cell: cells.Cell{Name: "a", Ready: true}, since: ago(failoverAfter), sent: true, want: false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			other := cells.Cell{Name: "c", Ready: true}
			if test.reached > 0 {
				other.Since = now.Add(-test.reached)
			}
			d := &departures{
				copied: &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-1", Name: "web"}},
				cells:  cells.Cells{test.cell, other}, failoverAfter: failoverAfter, now: now,
				sent: func(string) bool { return test.sent }, left: map[string][]v1alpha.LeavingDeployment{"a": test.left},
			}
			if test.always {
				d.failoverAfter = 0
			}
			assigned := cellWith("a", nil, 1)
			if assigned.LeavingSince = test.since; d.released(&assigned) != test.want {
				t.Errorf("it is not %t", test.want)
			}
		})
	}
}

// world is a city with cells, in which Karmada, the agents and the hub act one after the other in any order. The hub
// decides as the controller does; Karmada drops the report of a Work that it deletes, and deletes in the background;
// Pods end slowly.
type world struct {
	random  *rand.Rand
	now     time.Time
	copied  *v1alpha.WorkloadDeployment
	binding *workv1alpha2.ResourceBinding
	cells   map[string]*cellWorld
	// works are the Works with the collected reports, by cell.
	works map[string]*workv1alpha1.Work
}

type cellWorld struct {
	// work is the copy that the Work carries, and deployment the one in the cell; nil: none exists.
	work, deployment *v1alpha.WorkloadDeployment
	deleting         bool
	// generation is the generation of the deployment in the cell, and observed the one that the agent has acted on.
	generation, observed int
	// running are the indices of Instances with a Pod, which may be about to end.
	running map[int]bool
	// report is the status of the deployment in the cell.
	report string
	// asked are the departures that the cell is asked about, and left its answer.
	asked, left []v1alpha.LeavingDeployment
}

func newWorld(random *rand.Rand, cells ...string) *world {
	w := &world{
		random: random, now: time.Now(), cells: map[string]*cellWorld{}, binding: &workv1alpha2.ResourceBinding{},
		copied: &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-1", Name: "web", UID: "copy", Generation: 1}},
	}
	w.copied.Spec.Assignment = assigned()
	w.binding.Spec.Placement = &policyv1alpha1.Placement{
		ReplicaScheduling: &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided},
	}
	for _, cell := range cells {
		w.cells[cell] = &cellWorld{running: map[int]bool{}}
	}
	return w
}

// schedule plays Karmada's scheduler.
func (w *world) schedule() {
	w.binding.Spec.Clusters = nil
	for _, cell := range slices.Sorted(maps.Keys(w.cells)) {
		if n := w.random.Int32N(6) - 1; n > 0 {
			w.binding.Spec.Clusters = append(w.binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell, Replicas: n})
		}
	}
}

func (w *world) scheduled(cell string) bool {
	return slices.ContainsFunc(w.binding.Spec.Clusters, func(c workv1alpha2.TargetCluster) bool { return c.Name == cell })
}

// bind plays Karmada's binding controller for one cell: it creates the Work, or deletes it.
func (w *world) bind(name string, c *cellWorld) {
	switch {
	case c.deleting:
	case w.scheduled(name):
		c.work = w.copied.DeepCopy()
	case c.work != nil:
		c.deleting = true
	}
}

// execute plays Karmada's execution controller for one cell. It does not wait for deletions to end.
func (w *world) execute(c *cellWorld) {
	switch {
	case c.deleting:
		c.work, c.deployment, c.deleting, c.report = nil, nil, false, ""
	case c.work != nil && (c.deployment == nil || c.deployment.Generation != c.work.Generation):
		c.deployment = c.work.DeepCopy()
		c.generation++
	}
}

// act plays the agent of a cell, and its garbage collector.
func (w *world) act(name string, c *cellWorld) {
	var own []int
	if c.deployment != nil {
		own = naming.Assigned(c.deployment.Spec.Assignment, name)
		c.observed = c.generation
	}
	for index := range c.running {
		if !slices.Contains(own, index) && w.random.IntN(3) == 0 {
			delete(c.running, index)
		}
	}
	for _, index := range own {
		c.running[index] = true
	}
	if c.deployment != nil {
		c.report = fmt.Sprintf(`{"generation":%d,"observedGeneration":%d,"resourceTemplateGeneration":%d,"indices":[{"existing":%q}]}`,
			c.generation, c.observed, c.deployment.Generation, naming.Format(slices.Collect(maps.Keys(c.running))))
	}
	c.left = slices.DeleteFunc(slices.Clone(c.asked), func(leaving v1alpha.LeavingDeployment) bool {
		return !slices.Contains(c.left, leaving) && (c.deployment != nil || len(c.running) > 0)
	})
}

// collect plays Karmada, which collects the reports into the Works.
func (w *world) collect() {
	w.works = map[string]*workv1alpha1.Work{}
	for name, c := range w.cells {
		if c.work == nil {
			continue
		}
		work := &workv1alpha1.Work{}
		if c.deleting {
			work.DeletionTimestamp = &metav1.Time{Time: w.now}
		}
		work.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: manifest}}}
		if c.report != "" {
			work.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: []byte(c.report)}}}
		}
		w.works[name] = work
	}
}

// manifest is the manifest of each Work.
var manifest = []byte(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment",` +
	`"metadata":{"annotations":{"resourcetemplate.karmada.io/uid":"copy"}}}`)

// ask plays hub/collector.
func (w *world) ask() {
	for i := range w.copied.Spec.Assignment.Cells {
		assigned := &w.copied.Spec.Assignment.Cells[i]
		c := w.cells[assigned.Name]
		if c.asked = nil; assigned.IsLeaving() && c.work == nil {
			c.asked = []v1alpha.LeavingDeployment{w.copied.Leaving(assigned)}
		}
	}
}

// assign plays the controller.
func (w *world) assign(t *testing.T) {
	t.Helper()
	if len(w.binding.Spec.Clusters) == 0 {
		return
	}
	leave := &departures{
		copied: w.copied, failoverAfter: failoverAfter, now: w.now, left: map[string][]v1alpha.LeavingDeployment{},
		sent: func(cell string) bool { return w.scheduled(cell) || w.cells[cell].work != nil },
	}
	for name, c := range w.cells {
		leave.cells = append(leave.cells, cells.Cell{Name: name, City: "iad", Ready: true})
		leave.left[name] = c.left
	}
	shares := map[string]int{}
	for _, target := range w.binding.Spec.Clusters {
		shares[target.Name] = int(target.Replicas)
	}
	next := assign(division{
		current: w.copied.Spec.Assignment, shares: shares, released: leave.released, now: w.now,
		runs: path.ReportsIn(w.copied, w.binding, w.works).MayRun,
	})
	for cell, n := range shares {
		if got := naming.Assigned(next, cell); len(got) != n {
			t.Fatalf("cell %s has %v, its share is %d", cell, got, n)
		}
	}
	if !equality.Semantic.DeepEqual(next, w.copied.Spec.Assignment) {
		w.copied.Spec.Assignment = next
		w.copied.Generation++
	}
}

// step lets one of the parties act.
func (w *world) step(t *testing.T) {
	t.Helper()
	w.now = w.now.Add(time.Second)
	names := slices.Sorted(maps.Keys(w.cells))
	name := names[w.random.IntN(len(names))]
	c := w.cells[name]
	switch w.random.IntN(8) {
	case 0:
		w.bind(name, c)
	case 1:
		w.execute(c)
	case 2, 3:
		w.act(name, c)
	case 4:
		w.collect()
	case 5:
		w.ask()
	default:
		w.assign(t)
	}
}

// TestNoIndexIsUsedTwice plays a city in which Karmada repeatedly moves replicas between cells, and every party acts
// late.
func TestNoIndexIsUsedTwice(t *testing.T) {
	for range 40 {
		seed := rand.Uint64()
		w := newWorld(rand.New(rand.NewPCG(seed, 0)), "a", "b", "c")
		for step := range 400 {
			if w.random.IntN(20) == 0 && step < 200 || step == 0 {
				w.schedule()
			}
			w.step(t)
			w.checkOnce(t, seed, step)
		}
		// When Karmada's decisions end, the cells release the indices that they must release.
		for range 1500 {
			w.step(t)
		}
		for i := range w.copied.Spec.Assignment.Cells {
			if cell := &w.copied.Spec.Assignment.Cells[i]; len(w.binding.Spec.Clusters) > 0 && len(cell.Releasing) > 0 {
				t.Fatalf("seed %d: cell %s still has to release %v", seed, cell.Name, cell.Releasing)
			}
		}
	}
}

func (w *world) checkOnce(t *testing.T, seed uint64, step int) {
	t.Helper()
	seen := map[int]string{}
	for name, c := range w.cells {
		for index := range c.running {
			if seen[index] != "" {
				t.Fatalf("seed %d, step %d: index %d runs in %s and %s, %+v", seed, step, index, seen[index], name, *w.copied.Spec.Assignment)
			}
			seen[index] = name
		}
	}
}
