// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// single is a Workload with one Instance in each city.
func single(t *testing.T, mutate func(*v1alpha.Workload)) (*fixture, *cell) {
	t.Helper()
	f := newFixture(t, "DFW ORD")
	workload := f.workload(t, "main DFW ORD")
	change(t, f, workload, func(w *v1alpha.Workload) {
		w.Spec.Placements[0].ScaleSettings.MinReplicas = 1
		if mutate != nil {
			mutate(w)
		}
	})
	f.mustReconcile(t)
	c := f.cell()
	c.settle(t)
	return f, c
}

func TestSingleInstancesSurge(t *testing.T) {
	t.Parallel()
	f, c := single(t, nil)
	f.image(t, "registry.example/app:2")
	got := c.settle(t)
	want := []string{
		"DFW 0/1 ORD 0/1", "DFW 1/1+1 ORD 0/1", "DFW 2/1+1 ORD 0/1", "DFW 1/1 ORD 0/1", "DFW 1/1 ORD 1/1+1",
		"DFW 1/1 ORD 2/1+1", "DFW 1/1 ORD 1/1",
	}
	if !slices.Equal(got, want) || f.phase(t) != v1alpha.RolloutComplete {
		t.Errorf("it goes by %q, %s", got, f.phase(t))
	}
	if status := f.readWorkload(t).Status; status.DesiredReplicas != 2 || status.Replicas != 2 || status.UpdatedReplicas != 2 {
		t.Errorf("counts are %+v", status.ReplicaCounts)
	}
}

// TestBrokenTemplateSurges: the Instance of the earlier template stays, and an undo removes the additional one.
func TestBrokenTemplateSurges(t *testing.T) {
	t.Parallel()
	f, c := single(t, nil)
	c.Broken = append(c.Broken, f.image(t, "registry.example/app:broken"))
	c.settle(t)
	if got := c.state(t); got != "DFW 1/1+1 ORD 0/1" {
		t.Fatalf("the broken template has %s", got)
	}
	counts := f.readWorkload(t).Status.ReplicaCounts
	if counts.DesiredReplicas != 2 || counts.AvailableReplicas != 2 || counts.UpdatedReplicas != 1 || counts.UpdatedAvailableReplicas != 0 {
		t.Errorf("counts are %+v", counts)
	}
	f.image(t, "registry.example/app:1")
	c.settle(t)
	if got := c.state(t); got != "DFW 1/1 ORD 1/1" || f.phase(t) != v1alpha.RolloutComplete {
		t.Errorf("undone, it ends with %s, %s", got, f.phase(t))
	}
}

// TestSurgeIsPaused: a pause holds both templates beside each other.
func TestSurgeIsPaused(t *testing.T) {
	t.Parallel()
	f, c := single(t, nil)
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.PauseAfter = new(intstr.FromInt32(1)) })
	f.image(t, "registry.example/app:2")
	c.settle(t)
	if got := c.state(t); got != "DFW 1/1+1 ORD 0/1" || f.phase(t) != v1alpha.RolloutPaused {
		t.Errorf("it pauses with %s, %s", got, f.phase(t))
	}
}

// TestNoSurge: what has no additional Instances.
func TestNoSurge(t *testing.T) {
	t.Parallel()
	surges := map[string]func(*v1alpha.Workload){
		"maxSurge 0": func(w *v1alpha.Workload) {
			w.Spec.Rollout = &v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromInt32(0))}
		},
		"a template that waits for lost nodes": func(w *v1alpha.Workload) { w.Spec.Template.Spec.OnNodeLoss = v1alpha.NodeLossWait },
		"an autoscaler": func(w *v1alpha.Workload) {
			scale := &w.Spec.Placements[0].ScaleSettings
			scale.MaxReplicas = new(int32(3))
			scale.Metrics = []v1alpha.MetricSpec{{Resource: &v1alpha.ResourceMetricSource{
				Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(50))},
			}}}
		},
		"two Instances": func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = 2 },
	}
	for name, mutate := range surges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, c := single(t, mutate)
			change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
				w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "registry.example/app:2"
			})
			got := c.settle(t)
			if strings.Contains(strings.Join(got, " "), "+") || f.phase(t) != v1alpha.RolloutComplete {
				t.Errorf("it goes by %q, %s", got, f.phase(t))
			}
		})
	}
}

func TestMaxSurge(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.MaxSurge = new(intstr.FromString("50%")) })
	f.image(t, "registry.example/app:2")
	got := c.settle(t)
	want := []string{
		"DFW 0/2 ORD 0/2", "DFW 1/2+1 ORD 0/2", "DFW 3/2+1 ORD 0/2", "DFW 2/2 ORD 0/2", "DFW 2/2 ORD 2/2+2",
		"DFW 2/2 ORD 4/2+2", "DFW 2/2 ORD 2/2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it goes by %q", got)
	}
}

// TestSurgeWithoutCapacity: after some time the Instances are replaced without additional ones.
func TestSurgeWithoutCapacity(t *testing.T) {
	t.Parallel()
	for _, lacking := range []string{"the cell", "quota", "a node", "the quota of the cell"} {
		t.Run(lacking, func(t *testing.T) {
			t.Parallel()
			f, c := single(t, nil)
			f.requeues, c.Full = true, lacking
			reason := v1alpha.ReasonUnschedulable
			if lacking == "the quota of the cell" {
				reason = v1alpha.ReasonCellQuotaExceeded
			}
			for _, name := range []string{"web-main-dfw-1", "web-main-ord-1"} {
				f.notStarted(t, name, reason)
			}
			f.image(t, "registry.example/app:2")
			c.settle(t)
			waits := c.state(t)
			if !strings.HasSuffix(waits, "/1+1 ORD 0/1") {
				t.Fatalf("it waits with %s", waits)
			}
			f.clock.SetTime(testBegin.Add(rollout.SurgePatience - time.Second))
			c.settle(t)
			if got := c.state(t); got != waits {
				t.Fatalf("too early it has %s", got)
			}
			f.clock.SetTime(testBegin.Add(rollout.SurgePatience + time.Second))
			got := c.settle(t)
			if got[len(got)-1] != "DFW 1/1 ORD 1/1" || f.phase(t) != v1alpha.RolloutComplete {
				t.Errorf("it goes by %q, %s", got, f.phase(t))
			}
		})
	}
}

// notStarted shows an Instance that has no node, or no Pod, for a reason.
func (f *fixture) notStarted(t *testing.T, name, reason string) {
	t.Helper()
	instance := &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: simulated.Template("registry.example/app:2").Spec,
	}
	create(t, f, instance)
	changeStatus(t, f, instance, func(i *v1alpha.Instance) {
		i.Status.Conditions = []metav1.Condition{{
			Type: v1alpha.ConditionReady, Status: metav1.ConditionFalse, Reason: reason,
			LastTransitionTime: metav1.NewTime(testBegin),
		}}
	})
}

// TestSurgeEndsWithItsPolicy: a consumer that refuses additional Instances during a rollout has none any more.
func TestSurgeEndsWithItsPolicy(t *testing.T) {
	t.Parallel()
	f, c := single(t, nil)
	c.Broken = append(c.Broken, f.image(t, "registry.example/app:broken"))
	c.settle(t)
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.MaxSurge = new(intstr.FromInt32(0)) })
	c.settle(t)
	if got := c.state(t); got != "DFW 1/1 ORD 0/1" {
		t.Errorf("it ends with %s", got)
	}
}
