// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestNamesLeaveAFormerExposure: the names of a Workload are deleted while its cells have another exposure than it wants,
// and return with the addresses of the new one.
func TestNamesLeaveAFormerExposure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureGateway })
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.own("www"), "A 203.0.113.7")

	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureLoadBalancer })
	f.reconcile(t, "web")
	f.wantAnswer(t, f.own("www"), "")
	f.wantCondition(t, "web", v1alpha.ReasonNamesPending)
	if writes := f.reconcile(t, "web"); len(writes) > 0 {
		t.Errorf("what waits is written: %v", writes)
	}

	// hub/deployments changes the exposure, and offers the city again when the cell has reported.
	d := f.Deployment("web-dfw", "DFW")
	planes.Change(t, f.Planes, d, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Service, d.Spec.ServiceGeneration = w.Spec.Service.DeepCopy(), w.Generation
		d.Annotations = map[string]string{v1alpha.AnnotationTrafficLeaves: f.clock.Now().UTC().Format(time.RFC3339)}
	})
	f.reconcile(t, "web")
	f.wantAnswer(t, f.own("www"), "")
	planes.Change(t, f.Planes, d, func(d *v1alpha.WorkloadDeployment) { d.Annotations = nil })
	f.serve(t, w, "DFW", "198.51.100.7")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.own("www"), "A 198.51.100.7")
}

// TestNamesKeepAnExposure: the names of a Workload stay while no cell of its cities has what another exposure needs.
func TestNamesKeepAnExposure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	f.reconciler.Lacking = func(_ context.Context, cities []string, exposure v1alpha.ServiceExposure) ([]string, error) {
		return cells.Cells{{City: "dfw", Balancer: `{"addresses":["203.0.113.0/24"]}`}}.Lacking(cities, exposure), nil
	}
	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureGateway })
	f.reconcile(t, "web")
	// A Gateway would not have the name by the pattern: another project may have it.
	for _, name := range []string{f.own("www"), f.byPattern("web")} {
		f.wantAnswer(t, name, "A 203.0.113.7")
	}
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, f.byPattern("web"), f.own("www"))
}

// TestALateSwitchDeletesNoName: deployments that have another exposure in the cache alone keep the names.
func TestALateSwitchDeletesNoName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	s := f.scope(t, "web", w)
	s.switching = true
	if err := s.release(t.Context()); err != nil || s.requeueAfter.Result().RequeueAfter == 0 {
		t.Errorf("%v, again after %v", err, s.requeueAfter)
	}
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
}

// TestALateCacheDeletesNoName: a Workload that is absent from the cache, or that has not asked for a name there yet, keeps
// what it has by its API server.
func TestALateCacheDeletesNoName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	earlier := w.DeepCopy()
	earlier.Spec.Service.Hostnames = nil
	for name, cached := range map[string]*v1alpha.Workload{"absent": {}, "earlier": earlier} {
		s := f.scope(t, "web", cached)
		if len(s.existing) != 2 {
			t.Fatalf("%s: %d names", name, len(s.existing))
		}
		if err := s.release(t.Context()); err != nil || s.requeueAfter.Result().RequeueAfter == 0 {
			t.Errorf("%s: %v, again after %v", name, err, s.requeueAfter)
		}
		f.wantAnswer(t, f.own("www"), "A 203.0.113.7")
		f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
	}
}
