// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// withBudget returns a fixture with Workload web, with a placement in DFW and one in ORD, of 3 and 4 Instances, and a
// minimum of 5.
func withBudget(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, "DFW ORD")
	workload := f.workload(t, "main DFW", "more ORD")
	change(t, f, workload, func(w *v1alpha.Workload) {
		w.Spec.Placements[0].ScaleSettings.MinReplicas, w.Spec.Placements[1].ScaleSettings.MinReplicas = 3, 4
		w.Spec.Disruption = &v1alpha.WorkloadDisruption{MinAvailable: new(intstr.FromInt32(5))}
	})
	f.settle(t)
	return f
}

// settle reconciles until nothing is written.
func (f *fixture) settle(t *testing.T) {
	t.Helper()
	for range 10 {
		if len(f.mustReconcile(t)) == 0 {
			return
		}
	}
	t.Fatal("it never settles")
}

// inForce plays the cells of cities, which act on their present floors.
func (f *fixture) inForce(t *testing.T, available map[string]int32) {
	t.Helper()
	for name, count := range available {
		changeStatus(t, f, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
			d.Status.AvailableReplicas, d.Status.FloorAvailable = count, count
			d.Status.FloorSequence, d.Status.ObservedGeneration = d.Spec.Floor.Sequence, d.Generation
			if d.Status.FloorInForce = d.Spec.Floor.MinAvailable; d.Spec.Floor.MinAvailable != budget.Everything {
				d.Status.FloorInForce = min(d.Spec.Floor.MinAvailable, count)
			}
		})
	}
}

func (f *fixture) floor(t *testing.T, name string) int32 {
	t.Helper()
	floor := f.readDeployment(t, name).Spec.Floor
	if floor == nil || floor.Pending != nil {
		t.Fatalf("deployment %s has floor %+v", name, floor)
	}
	return floor.MinAvailable
}

func (f *fixture) budgetCondition(t *testing.T) *metav1.Condition {
	t.Helper()
	return meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionDisruptionBudget)
}

const (
	dfw = "web-main-dfw"
	ord = "web-more-ord"
)

func TestBudgetIsDividedAmongCities(t *testing.T) {
	t.Parallel()
	f := withBudget(t)
	if f.floor(t, dfw) != budget.Everything || f.floor(t, ord) != budget.Everything {
		t.Errorf("before anything is Available the floors are %d and %d", f.floor(t, dfw), f.floor(t, ord))
	}
	if c := f.budgetCondition(t); c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, dfw+", "+ord) {
		t.Errorf("before the cells have confirmed: %+v", c)
	}
	ready := map[string]int32{dfw: 3, ord: 4}
	f.inForce(t, ready)
	f.settle(t)
	if f.floor(t, dfw) != 2 || f.floor(t, ord) != 3 {
		t.Fatalf("of 3 + 4 with a minimum of 5 the cities keep %d and %d", f.floor(t, dfw), f.floor(t, ord))
	}
	f.inForce(t, ready)
	f.settle(t)
	if c := f.budgetCondition(t); c.Status != metav1.ConditionTrue || c.Reason != v1alpha.ReasonBudgetInForce {
		t.Errorf("once they have confirmed: %+v", c)
	}

	// A raised minimum revokes tokens before it is reported to be in force.
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Disruption.MinAvailable = new(intstr.FromString("80%")) })
	f.settle(t)
	if got := f.readWorkload(t).Status.Disruption.MinAvailable; got != 6 {
		t.Errorf("80%% of 7 are %d", got)
	}
	c := f.budgetCondition(t)
	if c.Status != metav1.ConditionFalse || c.Reason != v1alpha.ReasonBudgetNotConfirmed ||
		c.ObservedGeneration != f.readWorkload(t).Generation {
		t.Errorf("before the cells have confirmed the raised minimum: %+v", c)
	}
	f.inForce(t, ready)
	f.settle(t)
	if c := f.budgetCondition(t); c.Status != metav1.ConditionTrue {
		t.Errorf("after that: %+v", c)
	}
	if sum := f.floor(t, dfw) + f.floor(t, ord); sum != 6 {
		t.Errorf("the cities keep %d together", sum)
	}
}

// TestSlackOfAnInstanceThatRecovered: the slack was given to the city that had all of its Instances, and all of it was
// where the last one became Available.
func TestSlackOfAnInstanceThatRecovered(t *testing.T) {
	t.Parallel()
	f := withBudget(t)
	for _, available := range []int32{2, 3, 3, 3} {
		f.inForce(t, map[string]int32{dfw: available, ord: 4})
		f.settle(t)
		if available == 2 && f.floor(t, dfw) != 1 {
			t.Fatalf("the only slack is not in %s: floor %d", dfw, f.floor(t, dfw))
		}
	}
	if f.floor(t, dfw) != 2 || f.floor(t, ord) != 3 {
		t.Errorf("of 3 + 4 with a minimum of 5 the cities keep %d and %d", f.floor(t, dfw), f.floor(t, ord))
	}
}

// TestSlackDuringARollout: the city of a rollout keeps its tokens between two batches. The slack is levelled while the
// rollout is paused.
func TestSlackDuringARollout(t *testing.T) {
	t.Parallel()
	for name, paused := range map[string]bool{"it continues": false, "it is paused": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withBudget(t)
			ready := map[string]int32{dfw: 3, ord: 4}
			f.inForce(t, map[string]int32{dfw: 2, ord: 4})
			f.settle(t)
			f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.Paused = paused })
			change(t, f, f.readDeployment(t, dfw), func(d *v1alpha.WorkloadDeployment) {
				d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: 2, Template: *d.Spec.Template.DeepCopy()}
			})
			f.inForce(t, ready)
			f.settle(t)
			if got := f.floor(t, dfw); got == 2 != paused {
				t.Errorf("the city keeps %d", got)
			}
			if r := f.readDeployment(t, dfw).Spec.Rollout; (r != nil && r.Paused) != paused {
				t.Errorf("the city's cells divide their slack by %+v", r)
			}
			if r := f.readDeployment(t, ord).Spec.Rollout; r != nil && r.Paused {
				t.Error("the city that the rollout has not begun is written")
			}
			f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.Paused = false })
			f.settle(t)
			if r := f.readDeployment(t, dfw).Spec.Rollout; r != nil && r.Paused {
				t.Error("resumed, the city is still paused")
			}
		})
	}
}

// TestBudgetOfAStalePlan: a replica whose cache has an earlier plan does not revert the floors.
func TestBudgetOfAStalePlan(t *testing.T) {
	t.Parallel()
	f := withBudget(t)
	newer := &v1alpha.AvailabilityFloor{MinAvailable: 3, Sequence: f.readDeployment(t, dfw).Spec.Floor.Sequence + 1}
	change(t, f, f.readDeployment(t, dfw), func(d *v1alpha.WorkloadDeployment) { d.Spec.Floor = newer })
	f.settle(t)
	if got := f.readDeployment(t, dfw).Spec.Floor; *got != *newer {
		t.Errorf("the newer floor is replaced by %+v", got)
	}
}

func TestCityIsRemovedOnceOthersGuaranteeTheMinimum(t *testing.T) {
	t.Parallel()
	f := withBudget(t)
	ready := map[string]int32{dfw: 3, ord: 4}
	f.inForce(t, ready)
	f.settle(t)
	f.inForce(t, ready)
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Placements = w.Spec.Placements[1:]
		w.Spec.Disruption.MinAvailable = new(intstr.FromInt32(4))
	})
	f.settle(t)
	if d := f.readDeployment(t, dfw); !d.DeletionTimestamp.IsZero() {
		t.Fatal("the city is removed while the other one may disrupt an Instance")
	}
	f.inForce(t, ready)
	f.settle(t)
	if d := f.readDeployment(t, dfw); d.DeletionTimestamp.IsZero() {
		t.Errorf("the city stays with floor %+v: %+v", d.Spec.Floor, f.budgetCondition(t))
	}
}

func TestBudgetIsRemoved(t *testing.T) {
	t.Parallel()
	f := withBudget(t)
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Disruption = nil })
	f.settle(t)
	workload := f.readWorkload(t)
	if f.readDeployment(t, dfw).Spec.Floor != nil || workload.Status.Disruption != nil || f.budgetCondition(t) != nil {
		t.Errorf("something stays: %+v, %+v", f.readDeployment(t, dfw).Spec.Floor, workload.Status)
	}
}

// TestBudgetOfEverything: as with a PodDisruptionBudget, a minimum above the number of Instances allows no disruption.
func TestBudgetOfEverything(t *testing.T) {
	t.Parallel()
	f := withBudget(t)
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Disruption.MinAvailable = new(intstr.FromInt32(100)) })
	f.settle(t)
	f.inForce(t, map[string]int32{dfw: 3, ord: 4})
	f.settle(t)
	c := f.budgetCondition(t)
	if c.Status != metav1.ConditionTrue || c.Reason != v1alpha.ReasonNoDisruptionAllowed ||
		f.readWorkload(t).Status.Disruption.MinAvailable != 7 {
		t.Errorf("condition %+v", c)
	}
}

// TestRepairBeforeTheFirstCity: a budget without slack would let a rollout wait in the first city for an Instance that
// only the new template repairs.
func TestRepairBeforeTheFirstCity(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		minimum int32
		want    string
	}{"with slack": {5, dfw}, "without": {6, ord}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withBudget(t)
			change(t, f, f.readWorkload(t),
				func(w *v1alpha.Workload) { w.Spec.Disruption.MinAvailable = new(intstr.FromInt32(test.minimum)) })
			f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.MaxUnavailable = new(intstr.FromInt32(3)) })
			f.cell().settle(t)
			f.inForce(t, map[string]int32{dfw: 3, ord: 3})
			changeStatus(t, f, f.readDeployment(t, ord),
				func(d *v1alpha.WorkloadDeployment) { d.Status.Indices[0].AvailableIndices = "0-2" })
			f.image(t, "registry.example/app:2")
			f.settle(t)
			for _, deployment := range []string{dfw, ord} {
				partition := f.readDeployment(t, deployment).Spec.Partition
				if got := partition != nil; got != (deployment == test.want) {
					t.Errorf("%s has partition %+v", deployment, partition)
				}
			}
		})
	}
}
