// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/budget"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// inTwoCells divides deployment web with this floor among two cells, which have 3 and 4 Instances.
func inTwoCells(t *testing.T, floor *v1alpha.AvailabilityFloor) (f *fixture, second *clusterv1alpha1.Cluster) {
	t.Helper()
	f = newFixture(t)
	second = f.Cell(t, f.city)
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Floor, d.Spec.ScaleSettings.MinReplicas = floor, 7
	})
	f.mustReconcile(t, "web")
	f.schedule(t, map[string]int32{f.cell.Name: 3, second.Name: 4}, nil)
	f.mustReconcile(t, "web")
	return f, second
}

// report plays the cells: they act on their present floors, and have this many Available Instances.
func (f *fixture) report(t *testing.T, available map[string]int32, awaiting ...string) {
	t.Helper()
	copied := read(t, f, f.copied())
	planes.ChangeReports(t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status.Indices = nil
		for i := range d.Spec.Assignment.Cells {
			cell := &d.Spec.Assignment.Cells[i]
			report := v1alpha.CellIndices{Cell: cell.Name, FloorSequence: cell.Floor.Sequence, Available: available[cell.Name]}
			for _, name := range awaiting {
				if name == cell.Name {
					report.AwaitingDisruption = available[name]
				}
			}
			d.Status.Indices = append(d.Status.Indices, report)
		}
	})
}

// floors returns the stored floors of the cells.
func (f *fixture) floors(t *testing.T) map[string]v1alpha.AvailabilityFloor {
	t.Helper()
	result := map[string]v1alpha.AvailabilityFloor{}
	for _, cell := range read(t, f, f.copied()).Spec.Assignment.Cells {
		if cell.Floor != nil {
			result[cell.Name] = *cell.Floor
		}
	}
	return result
}

func TestFloorIsDividedAmongCells(t *testing.T) {
	t.Parallel()
	f, second := inTwoCells(t, &v1alpha.AvailabilityFloor{MinAvailable: 5, Sequence: 1})
	for name, floor := range f.floors(t) {
		if floor.MinAvailable != budget.Everything {
			t.Errorf("cell %s begins with floor %+v", name, floor)
		}
	}
	ready := map[string]int32{f.cell.Name: 3, second.Name: 4}
	f.report(t, ready)
	f.mustReconcile(t, "web")
	floors := f.floors(t)
	if floors[f.cell.Name].MinAvailable != 2 || floors[second.Name].MinAvailable != 3 {
		t.Fatalf("of 3 + 4 with a minimum of 5 the cells keep %+v", floors)
	}
	f.report(t, ready)
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("a settled deployment is written: %v", writes)
	}

	// The second cell awaits disruptions, and the first does not: first the one cell's floor is raised, and then the
	// other's lowered.
	f.report(t, ready, second.Name)
	f.mustReconcile(t, "web")
	if floors = f.floors(t); floors[f.cell.Name].MinAvailable != 3 || floors[second.Name].MinAvailable != 3 ||
		floors[f.cell.Name].Pending.Lowest != 2 {
		t.Fatalf("before the first cell has confirmed they keep %+v", floors)
	}
	f.report(t, ready, second.Name)
	f.mustReconcile(t, "web")
	if floors = f.floors(t); floors[f.cell.Name].MinAvailable != 3 || floors[second.Name].MinAvailable != 2 {
		t.Errorf("after it has confirmed they keep %+v", floors)
	}
}

// TestSlackOfCells: the slack is where an Instance recovered, and is levelled except during a rollout that is not
// paused.
func TestSlackOfCells(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ partition, paused, levelled bool }{
		"settled": {levelled: true}, "a rollout": {partition: true}, "a paused rollout": {partition: true, paused: true, levelled: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, second := inTwoCells(t, &v1alpha.AvailabilityFloor{MinAvailable: 5, Sequence: 1})
			planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
				if of.partition {
					d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: 2, Template: *d.Spec.Template.DeepCopy()}
				}
				d.Spec.Rollout = &v1alpha.WorkloadRollout{Paused: of.paused}
			})
			f.mustReconcile(t, "web")
			for _, available := range []int32{2, 3, 3, 3} {
				f.report(t, map[string]int32{f.cell.Name: available, second.Name: 4})
				f.mustReconcile(t, "web")
			}
			floors := f.floors(t)
			if levelled := floors[f.cell.Name].MinAvailable == 2 && floors[second.Name].MinAvailable == 3; levelled != of.levelled {
				t.Errorf("of 3 + 4 with a minimum of 5 the cells keep %+v", floors)
			}
		})
	}
}

func TestFloorsOfCellsThatAreLost(t *testing.T) {
	t.Parallel()
	f, second := inTwoCells(t, &v1alpha.AvailabilityFloor{MinAvailable: 5, Sequence: 1})
	ready := map[string]int32{f.cell.Name: 3, second.Name: 4}
	f.report(t, ready)
	f.mustReconcile(t, "web")
	f.report(t, ready)
	planes.ChangeStatus(t, f.Planes, second, func(c *clusterv1alpha1.Cluster) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: clusterv1alpha1.ClusterConditionReady, Status: metav1.ConditionFalse, Reason: "Lost",
			LastTransitionTime: metav1.NewTime(f.clock.Now()),
		})
	})
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("a cell that is silent for a moment keeps its tokens; writes %v", writes)
	}
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	f.mustReconcile(t, "web")
	if floor := f.floors(t)[f.cell.Name]; floor.MinAvailable != budget.Everything {
		t.Errorf("with the other cell lost, the first one keeps %+v", floor)
	}
}

// TestFloorsWithOtherClocks: the hub's clock is 10 minutes ahead of or behind the clock that Karmada judges cells by.
// No floor is lower than with the same clock, while a cell does not answer and when it returns.
func TestFloorsWithOtherClocks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ahead time.Duration
		// silent is the floor of the first cell while the second one does not answer.
		silent int32
	}{
		"ahead":    {10 * time.Minute, budget.Everything},
		"the same": {0, 2},
		"behind":   {-10 * time.Minute, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, second := inTwoCells(t, &v1alpha.AvailabilityFloor{MinAvailable: 5, Sequence: 1})
			karmada := f.clock.Now()
			f.clock.SetTime(karmada.Add(test.ahead))
			ready := map[string]int32{f.cell.Name: 3, second.Name: 4}
			f.report(t, ready)
			f.mustReconcile(t, "web")
			if floors := f.floors(t); floors[f.cell.Name].MinAvailable != 2 || floors[second.Name].MinAvailable != 3 {
				t.Fatalf("of 3 + 4 with a minimum of 5 the cells keep %+v", floors)
			}
			f.report(t, ready)
			judge := func(status metav1.ConditionStatus) {
				planes.ChangeStatus(t, f.Planes, second, func(c *clusterv1alpha1.Cluster) {
					meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
						Type: clusterv1alpha1.ClusterConditionReady, Status: status, Reason: "Judged", LastTransitionTime: metav1.NewTime(karmada),
					})
				})
				f.mustReconcile(t, "web")
			}
			judge(metav1.ConditionFalse)
			if got := f.floors(t)[f.cell.Name].MinAvailable; got != test.silent {
				t.Errorf("while the second cell does not answer the first one keeps %d, want %d", got, test.silent)
			}
			// Its last report has what it had then.
			judge(metav1.ConditionTrue)
			if got := f.floors(t)[second.Name].MinAvailable; got != 3 {
				t.Errorf("the second cell returns with floor %d, want 3", got)
			}
		})
	}
}

func TestFloorsNeverGoBack(t *testing.T) {
	t.Parallel()
	f, _ := inTwoCells(t, &v1alpha.AvailabilityFloor{MinAvailable: 5, Sequence: 7})
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Floor = &v1alpha.AvailabilityFloor{MinAvailable: 1, Sequence: 3}
	})
	f.mustReconcile(t, "web")
	if floor := read(t, f, f.copied()).Spec.Floor; floor.MinAvailable != 5 || floor.Sequence != 7 {
		t.Errorf("an earlier floor replaces the newer one: %+v", floor)
	}
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Spec.Floor = nil })
	f.mustReconcile(t, "web")
	if copied := read(t, f, f.copied()); copied.Spec.Floor != nil || len(f.floors(t)) > 0 {
		t.Errorf("without a budget the copy has %+v", copied.Spec)
	}
}

// TestFloorsOfTwoReplicas: of two decisions about the same copy the second one fails.
func TestFloorsOfTwoReplicas(t *testing.T) {
	t.Parallel()
	f, second := inTwoCells(t, &v1alpha.AvailabilityFloor{MinAvailable: 5, Sequence: 1})
	f.report(t, map[string]int32{f.cell.Name: 3, second.Name: 4})
	f.Hub.Once("apply", v1alpha.KindWorkloadDeployment, func() error {
		planes.Change(t, f.Planes, read(t, f, f.copied()), func(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment.FloorSequence++ })
		return nil
	})
	if _, err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("the second decision is written: %v", err)
	}
}

// TestSameReport: of a report counts what the controller divides by, and not how many Instances are Ready.
func TestSameReport(t *testing.T) {
	t.Parallel()
	of := func(facts v1alpha.CellIndices) *path.Report {
		r := &path.Report{}
		r.Indices = []v1alpha.CellIndices{facts}
		return r
	}
	before := of(v1alpha.CellIndices{Existing: "0-1", FloorSequence: 1, Available: 2})
	for name, test := range map[string]struct {
		after v1alpha.CellIndices
		want  bool
	}{
		"nothing":      {v1alpha.CellIndices{Existing: "0-1", FloorSequence: 1, Available: 2, Ready: "0"}, true},
		"a floor":      {v1alpha.CellIndices{Existing: "0-1", FloorSequence: 2, Available: 2}, false},
		"an Instance":  {v1alpha.CellIndices{Existing: "0-1", FloorSequence: 1, Available: 1}, false},
		"a drain":      {v1alpha.CellIndices{Existing: "0-1", FloorSequence: 1, Available: 2, AwaitingDisruption: 1}, false},
		"another one":  {v1alpha.CellIndices{Existing: "0-2", FloorSequence: 1, Available: 2}, false},
		"no Instances": {v1alpha.CellIndices{}, false},
	} {
		if got := sameReport(before, of(test.after)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	later := of(before.Indices[0])
	later.ObservedGeneration = 2
	if sameReport(before, later) {
		t.Error("a generation that was acted on does not count")
	}
}
