// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

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

func TestBrokenTemplateStops(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	c.Broken = append(c.Broken, f.image(t, "registry.example/app:broken"))
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
	c.Broken = append(c.Broken, f.image(t, "registry.example/app:broken"))
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
	c.Broken = append(c.Broken, f.image(t, "registry.example/app:broken"))
	c.settle(t)
	changeStatus(t, f, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
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
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
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
	c.Broken = append(c.Broken, f.image(t, "registry.example/app:broken"))
	c.settle(t)
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", "ORD", "SEA"} })
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
	if simulated.Hash(t, &before.Spec.Template) != simulated.Hash(t, &f.readWorkload(t).Spec.Template) {
		t.Fatal("the rollout has not begun")
	}
	changeStatus(t, f, before, func(d *v1alpha.WorkloadDeployment) { d.Status = *earlier.DeepCopy() })
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
