// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// newSingle is a Workload with one Instance in each city, which serve, and without additional Instances.
func newSingle(t *testing.T, cities ...string) (*fixture, *cell) {
	t.Helper()
	f, c := single(t, func(w *v1alpha.Workload) {
		w.Spec.Rollout = &v1alpha.WorkloadRollout{MaxSurge: new(intstr.FromInt32(0))}
		w.Spec.Service = &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: v1alpha.ServiceExposureLoadBalancer}
		w.Spec.Placements[0].CityCodes = cities
	})
	f.requeues = true
	f.serve(t, "web-main-dfw", at("DFW", true, 0, "203.0.113.7"))
	if len(cities) > 1 {
		f.serve(t, "web-main-ord", at("ORD", true, 0, "203.0.113.8"))
	}
	f.mustReconcile(t)
	return f, c
}

// TestTrafficLeavesBeforeAStep: the only Instance of a city is replaced when traffic has left the city, and the next city
// waits until it is offered again.
func TestTrafficLeavesBeforeAStep(t *testing.T) {
	t.Parallel()
	f, c := newSingle(t, "DFW", "ORD")
	f.image(t, "registry.example/app:2")
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD")
	f.after(t, 29*time.Second)
	if got := c.state(t); got != "DFW 0/1 ORD 0/1" {
		t.Fatalf("the Instance is replaced before the traffic has left: %s", got)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("what waits is written: %v", writes)
	}
	f.after(t, time.Second)
	f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD")
	// The cell has not acted yet.
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD")
	c.run(t)
	if got := c.state(t); got != "DFW 1/1 ORD 0/1" {
		t.Fatalf("after the drain there is %s", got)
	}
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW, ORD")
	for range 3 {
		f.mustReconcile(t)
		c.run(t)
	}
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW, ORD "+v1alpha.EndpointLeaving)
	f.after(t, 30*time.Second)
	c.settle(t)
	if got := c.state(t); got != "DFW 1/1 ORD 1/1" || f.phase(t) != v1alpha.RolloutComplete {
		t.Errorf("it ends with %s, %s", got, f.phase(t))
	}
	f.wantEndpoints(t, "DFW, ORD")
}

// TestNoDrainOfAStep: a step waits for no traffic that has nowhere to go, or whose rollout is withdrawn.
func TestNoDrainOfAStep(t *testing.T) {
	t.Parallel()
	t.Run("an only city", func(t *testing.T) {
		t.Parallel()
		f, c := newSingle(t, "DFW")
		f.image(t, "registry.example/app:2")
		c.settle(t)
		if got := c.state(t); got != "DFW 1/1" {
			t.Errorf("it ends with %s", got)
		}
	})
	t.Run("two Instances, one at a time", func(t *testing.T) {
		t.Parallel()
		f, c := newSingle(t, "DFW", "ORD")
		change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
			w.Spec.Placements[0].ScaleSettings.MinReplicas, w.Spec.Rollout.MaxUnavailable = 2, new(intstr.FromInt32(1))
		})
		c.settle(t)
		f.image(t, "registry.example/app:2")
		c.settle(t)
		if got := c.state(t); got != "DFW 2/2 ORD 2/2" {
			t.Errorf("it ends with %s", got)
		}
	})
	t.Run("the earlier template returns", func(t *testing.T) {
		t.Parallel()
		f, _ := newSingle(t, "DFW", "ORD")
		f.image(t, "registry.example/app:2")
		f.mustReconcile(t)
		f.image(t, "registry.example/app:1")
		f.mustReconcile(t)
		f.mustReconcile(t)
		f.wantEndpoints(t, "DFW, ORD")
	})
}
