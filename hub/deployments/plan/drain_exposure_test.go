// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// unexposed withdraws a Workload from its load balancers.
func unexposed(w *v1alpha.Workload) {
	w.Spec.Service.Exposure, w.Spec.Service.DrainSeconds = v1alpha.ServiceExposureCluster, nil
}

// TestExposureEnds: all cities leave the endpoints, and their Services keep their addresses until traffic has left.
func TestExposureEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*v1alpha.Workload){
		"exposure Cluster": unexposed, "no service": func(w *v1alpha.Workload) { w.Spec.Service = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, workload := newServing(t, new(int32(20)))
			before := f.readDeployment(t, "web-main-ord").Spec
			change(t, f, workload, end)
			f.mustReconcile(t)
			f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD "+v1alpha.EndpointLeaving)
			f.after(t, 19*time.Second)
			for _, name := range []string{"web-main-dfw", "web-main-ord"} {
				if spec := f.readDeployment(t, name).Spec; !spec.Service.Exposed() || spec.ServiceGeneration != before.ServiceGeneration {
					t.Errorf("%s loses its addresses before the traffic has left: %+v", name, spec.Service)
				}
			}
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("what waits is written: %v", writes)
			}
			f.after(t, time.Second)
			f.withdrawn(t)
			f.mustReconcile(t)
			f.wantEndpoints(t, "")
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
			change(t, f, workload, func(w *v1alpha.Workload) {
				w.Spec.Service = &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: v1alpha.ServiceExposureLoadBalancer}
			})
			f.mustReconcile(t)
			f.serve(t, "web-main-dfw", at("DFW", true, 0, "203.0.113.7"))
			f.mustReconcile(t)
			f.wantEndpoints(t, "DFW")
		})
	}
}

// withdrawn checks that no deployment is exposed, and plays hub/projection, which then shows no endpoint.
func (f *fixture) withdrawn(t *testing.T) {
	t.Helper()
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		if f.readDeployment(t, name).Spec.Service.Exposed() {
			t.Errorf("%s stays exposed", name)
		}
		changeStatus(t, f, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) { d.Status.Endpoints = nil })
	}
}

// TestExposureEndsInACell: two deployments with one Service wait for each other, and a placement that is new meanwhile
// does not decide about the Service.
func TestExposureEndsInACell(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]v1alpha.CityEndpoint{
		"at one address": at("ORD", true, 0, "203.0.113.7"), "one does not serve": at("ORD", false, 0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, workload := newServing(t, nil)
			f.serve(t, "web-main-ord", second)
			change(t, f, workload, func(w *v1alpha.Workload) {
				unexposed(w)
				w.Spec.Placements = append(w.Spec.Placements, placementsOf([]string{"other DFW"})...)
			})
			f.mustReconcile(t)
			kept, fresh := f.readDeployment(t, "web-main-ord").Spec, f.readDeployment(t, "web-other-dfw").Spec
			// A Workload that was created with its service has generation 1 of it.
			if !kept.Service.Exposed() || fresh.Service.Exposed() || fresh.ServiceGeneration >= 1 {
				t.Errorf("generation %d of %+v beside generation %d of %+v", kept.ServiceGeneration, kept.Service, fresh.ServiceGeneration,
					fresh.Service)
			}
			f.after(t, 30*time.Second)
			f.withdrawn(t)
		})
	}
}

// TestExposureReturns: a Workload that is exposed again while its traffic leaves is offered again.
func TestExposureReturns(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, nil)
	change(t, f, workload, unexposed)
	f.mustReconcile(t)
	f.after(t, 20*time.Second)
	change(t, f, workload, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureLoadBalancer })
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW, ORD")
	f.after(t, time.Hour)
	f.wantEndpoints(t, "DFW, ORD")
}
