// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"slices"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// excluded are the cells that no deployment of a city with several cells may use.
func (f *fixture) excluded(t *testing.T) []string {
	t.Helper()
	groups := read(t, f, f.policy()).Spec.Placement.ClusterAffinities
	return groups[len(groups)-1].ExcludeClusters
}

// avoided are the cells that new deployments do not use while others have capacity.
func (f *fixture) avoided(t *testing.T) []string {
	t.Helper()
	if groups := read(t, f, f.policy()).Spec.Placement.ClusterAffinities; len(groups) > 1 {
		return groups[0].ExcludeClusters
	}
	return nil
}

// TestCordonedCells: new deployments go elsewhere only if another cell of the city can run them.
func TestCordonedCells(t *testing.T) {
	a, b := cells.Cell{Name: "a", Ready: true}, cells.Cell{Name: "b", Ready: true}
	cordonedA, cordonedB := cells.Cell{Name: "a", Ready: true, Cordoned: true}, cells.Cell{Name: "b", Ready: true, Cordoned: true}
	lostA := lostFor("a", failoverAfter)
	lostA.Cordoned = true
	cases := map[string]struct {
		cells cells.Cells
		want  []string
	}{
		"none is cordoned":             {cells: cells.Cells{a, b}},
		"one of two":                   {cells: cells.Cells{cordonedA, b}, want: []string{"a"}},
		"the only one":                 {cells: cells.Cells{cordonedA}},
		"all":                          {cells: cells.Cells{cordonedA, cordonedB}},
		"the other one is not Ready":   {cells: cells.Cells{cordonedA, lostFor("b", 0)}},
		"the other one is lost":        {cells: cells.Cells{cordonedA, lostFor("b", failoverAfter)}},
		"it is lost, so excluded":      {cells: cells.Cells{lostA, b}},
		"one is cordoned, one is lost": {cells: cells.Cells{cordonedA, b, lostFor("c", failoverAfter)}, want: []string{"a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScope()
			s.cells, s.allCells = c.cells, c.cells
			s.Reconciler = New(Options{FailoverAfter: failoverAfter, Clock: testingclock.NewFakePassiveClock(now)})
			if got := s.city().Cordoned; !slices.Equal(got, c.want) {
				t.Errorf("avoided are %v, want %v", got, c.want)
			}
		})
	}
}

// TestACordonMovesNothing: a cell is avoided once Karmada has recorded that the deployments that run there belong to
// the group of all cells.
func TestACordonMovesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second, third := f.Cell(t, f.city), f.Cell(t, f.city)
	f.mustReconcile(t, "web")
	f.schedule(t, map[string]int32{f.cell.Name: 1, second.Name: 1}, nil)
	f.mustReconcile(t, "web")

	f.cordon(t, f.cell, true)
	f.mustReconcile(t, "web")
	if got := f.avoided(t); len(got) > 0 {
		t.Fatalf("%v is avoided, so that Karmada moves the Instances of an earlier version's policy", got)
	}
	f.mustLookAgain(t, "web")
	f.observe(t, policies.GroupCity)
	f.mustReconcile(t, "web")
	if got := f.avoided(t); !slices.Equal(got, []string{f.cell.Name}) {
		t.Fatalf("avoided are %v", got)
	}
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter != 0 {
		t.Errorf("it does not settle: %+v, %v", result, err)
	}

	f.observe(t, policies.GroupSchedulable)
	f.schedule(t, map[string]int32{second.Name: 1, third.Name: 1}, nil)
	f.cordon(t, second, true)
	f.mustReconcile(t, "web")
	if got := f.avoided(t); len(got) > 0 {
		t.Fatalf("avoided are %v, so that Karmada moves the Instances that avoid the first cell", got)
	}
	f.observe(t, policies.GroupCity)
	f.mustReconcile(t, "web")
	if got, want := f.avoided(t), slices.Sorted(slices.Values([]string{f.cell.Name, second.Name})); !slices.Equal(got, want) {
		t.Fatalf("avoided are %v, want %v", got, want)
	}

	f.observe(t, "")
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("while Karmada schedules a deployment, it writes %v", writes)
	}
	f.cordon(t, f.cell, false)
	f.cordon(t, second, false)
	f.mustReconcile(t, "web")
	if got := f.avoided(t); len(got) > 0 || len(f.excluded(t)) > 0 {
		t.Errorf("after the cordons %v are avoided", got)
	}
}

// cordon plays the controller that writes the condition of cordoned cells.
func (f *fixture) cordon(t *testing.T, cell *clusterv1alpha1.Cluster, cordoned bool) {
	t.Helper()
	status := metav1.ConditionTrue
	if cordoned {
		status = metav1.ConditionFalse
	}
	planes.ChangeStatus(t, f.Planes, cell, func(c *clusterv1alpha1.Cluster) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: v1alpha.ConditionComputeNodesSchedulable, Status: status, Reason: "Test",
		})
	})
}

// observe plays Karmada's scheduler, which records the group of cells of the deployment, and the cache, which trims the
// binding.
func (f *fixture) observe(t *testing.T, group string) {
	t.Helper()
	binding := planes.BindingOf(read(t, f, f.copied()))
	changed := planes.ChangeStatus(t, f.Planes, binding,
		func(b *workv1alpha2.ResourceBinding) { b.Status.SchedulerObservedAffinityName = group })
	trimmed, err := path.TrimBinding(changed)
	if err != nil {
		t.Fatal(err)
	}
	if got := trimmed.(*workv1alpha2.ResourceBinding).Status.SchedulerObservedAffinityName; got != group {
		t.Errorf("the cache has group %q of %q", got, group)
	}
}
