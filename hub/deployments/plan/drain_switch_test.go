// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	balancer = v1alpha.ServiceExposureLoadBalancer
	gateway  = v1alpha.ServiceExposureGateway
)

func exposedBy(exposure v1alpha.ServiceExposure) func(*v1alpha.Workload) {
	return func(w *v1alpha.Workload) { w.Spec.Service.Exposure = exposure }
}

// observe plays hub/projection: the cells have reported on a generation of a deployment.
func (f *fixture) observe(t *testing.T, name string, generation int64) {
	t.Helper()
	changeStatus(t, f, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
		d.Status.ObservedGeneration = generation
	})
}

// exposedAs checks the exposure of both cities.
func (f *fixture) exposedAs(t *testing.T, want v1alpha.ServiceExposure) {
	t.Helper()
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		if got := f.readDeployment(t, name).Spec.Service.Exposure; got != want {
			t.Errorf("%s is exposed as %s, want %s", name, got, want)
		}
	}
}

// newSwitching is newExposed, and a change to another exposure.
func newSwitching(t *testing.T, from, to v1alpha.ServiceExposure) (*fixture, *v1alpha.Workload) {
	t.Helper()
	f, workload := newExposed(t, from)
	change(t, f, workload, exposedBy(to))
	f.mustReconcile(t)
	return f, workload
}

// newExposed is newServing with an exposure, whose cells have reported.
func newExposed(t *testing.T, from v1alpha.ServiceExposure) (*fixture, *v1alpha.Workload) {
	t.Helper()
	f, workload := newServing(t, nil)
	if from != balancer {
		change(t, f, workload, func(w *v1alpha.Workload) { w.Spec.Service = nil })
		f.mustReconcile(t)
		f.after(t, 30*time.Second)
		f.withdrawn(t)
		change(t, f, workload, func(w *v1alpha.Workload) {
			w.Spec.Service = &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: from}
		})
		f.mustReconcile(t)
		f.serve(t, "web-main-dfw", at("DFW", true, 0, "203.0.113.7"))
		f.serve(t, "web-main-ord", at("ORD", true, 0, "203.0.113.8"))
	}
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		f.observe(t, name, f.readDeployment(t, name).Generation)
	}
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW, ORD")
	return f, workload
}

// TestExposureSwitches: a change between two exposures lets traffic leave the addresses of the former one first. The cities
// are offered again when their cells have reported on the new one.
func TestExposureSwitches(t *testing.T) {
	t.Parallel()
	for from, to := range map[v1alpha.ServiceExposure]v1alpha.ServiceExposure{balancer: gateway, gateway: balancer} {
		t.Run(string(from), func(t *testing.T) {
			t.Parallel()
			f, workload := newSwitching(t, from, to)
			const left = "DFW " + v1alpha.EndpointLeaving + ", ORD " + v1alpha.EndpointLeaving
			f.wantEndpoints(t, left)
			f.after(t, 29*time.Second)
			f.exposedAs(t, from)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("what waits is written: %v", writes)
			}
			f.after(t, time.Second)
			f.exposedAs(t, to)
			for _, name := range []string{"web-main-dfw", "web-main-ord"} {
				if got := f.readDeployment(t, name).Spec.ServiceGeneration; got != workload.Generation {
					t.Errorf("%s has the service of generation %d, want %d", name, got, workload.Generation)
				}
			}

			// The status still has the addresses of the former exposure.
			f.after(t, time.Second)
			f.wantEndpoints(t, left)
			f.serve(t, "web-main-dfw", at("DFW", true, 0, "198.51.100.7"))
			f.observe(t, "web-main-dfw", f.readDeployment(t, "web-main-dfw").Generation)
			f.mustReconcile(t)
			f.wantEndpoints(t, "DFW, ORD "+v1alpha.EndpointLeaving)
			f.observe(t, "web-main-ord", f.readDeployment(t, "web-main-ord").Generation)
			f.mustReconcile(t)
			f.wantEndpoints(t, "DFW, ORD")
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

// TestExposureSwitchesBack: a Workload that gets its former exposure again while traffic leaves it is offered at once.
func TestExposureSwitchesBack(t *testing.T) {
	t.Parallel()
	f, workload := newSwitching(t, balancer, gateway)
	f.after(t, 20*time.Second)
	change(t, f, workload, exposedBy(balancer))
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW, ORD")
	f.after(t, time.Hour)
	f.exposedAs(t, balancer)
	f.wantEndpoints(t, "DFW, ORD")
}

// TestExposureSwitchWaits: it waits for the names, and for drainSeconds of the former service, and a placement that is new
// meanwhile does not decide about the Service. Without traffic it waits for nothing.
func TestExposureSwitchWaits(t *testing.T) {
	t.Parallel()
	t.Run("for names", func(t *testing.T) {
		t.Parallel()
		f, workload, stored := newNamed(t)
		change(t, f, workload, func(w *v1alpha.Workload) {
			exposedBy(gateway)(w)
			w.Spec.Placements = append(w.Spec.Placements, placementsOf([]string{"other DFW"})...)
		})
		f.mustReconcile(t)
		f.after(t, 60*time.Second)
		f.exposedAs(t, balancer)
		kept, fresh := f.readDeployment(t, "web-main-dfw").Spec, f.readDeployment(t, "web-other-dfw").Spec
		if fresh.ServiceGeneration >= 1 {
			t.Errorf("generation %d beside generation %d", kept.ServiceGeneration, fresh.ServiceGeneration)
		}
		stored.addresses = nil
		f.after(t, time.Second)
		f.after(t, 29*time.Second)
		f.exposedAs(t, balancer)
		f.after(t, time.Second)
		f.exposedAs(t, gateway)
	})
	t.Run("for nothing", func(t *testing.T) {
		t.Parallel()
		f, workload := newServing(t, nil)
		f.serve(t, "web-main-dfw", at("DFW", false, -10, "203.0.113.7"))
		f.serve(t, "web-main-ord", at("ORD", false, -10))
		change(t, f, workload, exposedBy(gateway))
		f.mustReconcile(t)
		f.exposedAs(t, gateway)
	})
}

// TestExposureStays: a Workload keeps its exposure while no cell of its cities has what the wanted one needs, and its condition
// names the operator's setting. Settings that are lost during the change end it.
func TestExposureStays(t *testing.T) {
	t.Parallel()
	for from, to := range map[v1alpha.ServiceExposure]v1alpha.ServiceExposure{balancer: gateway, gateway: balancer} {
		t.Run(string(from), func(t *testing.T) {
			t.Parallel()
			f, workload := newExposed(t, from)
			f.lacking = []string{"DFW", "ORD"}
			change(t, f, workload, exposedBy(to))
			f.after(t, 0)
			f.stays(t, from, "no cell of DFW, ORD has a")
			f.after(t, time.Hour)
			f.stays(t, from, "annotation "+v1alpha.AnnotationLoadBalancer)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("what waits is written: %v", writes)
			}

			f.lacking = []string{"ORD"}
			f.after(t, 30*time.Second)
			f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD "+v1alpha.EndpointLeaving)
			f.lacking = []string{"DFW", "ORD"}
			f.after(t, time.Second)
			f.stays(t, from, "no cell of DFW, ORD has a")
			f.lacking = nil
			f.after(t, time.Second)
			f.after(t, 30*time.Second)
			f.exposedAs(t, to)
		})
	}
}

// stays checks that both cities serve with an exposure, and the message of condition ServiceProgrammed.
func (f *fixture) stays(t *testing.T, exposure v1alpha.ServiceExposure, want string) {
	t.Helper()
	f.exposedAs(t, exposure)
	f.wantEndpoints(t, "DFW, ORD")
	found := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionServiceProgrammed)
	if found == nil || found.Status != metav1.ConditionFalse || !strings.Contains(found.Message, want) {
		t.Errorf("condition %+v, want %q", found, want)
	}
}
