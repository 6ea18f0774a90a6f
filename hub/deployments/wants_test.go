// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestWants: a deleted deployment is recreated only while its Workload requests it and the project may use the city.
func TestWants(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*testing.T, *fixture, *v1alpha.Workload)
		cities string
		want   bool
	}{
		"its Workload is as it was": {want: true},
		"the placement is gone": {change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Placements = placementsOf([]string{"other DFW"}) })
		}},
		"the city is gone": {change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Placements = placementsOf([]string{"main ORD"}) })
		}},
		"another candidate is recorded": {change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			f.record(t, workload, "ORD")
		}},
		"it is the recorded candidate": {want: true, change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			f.record(t, workload, "DFW")
		}},
		// A project that was restored without its statuses.
		"no choice is recorded yet": {want: true, change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			f.record(t, workload, "")
		}},
		"the project may not use the city": {cities: "ORD"},
		"the Workload is being deleted": {change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			planes.Delete(t, f.Planes, workload)
		}},
		// The namespace controller deletes the objects of a namespace in any order.
		"the namespace is being deleted": {change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			namespace := &corev1.Namespace{}
			namespace.Name = workload.Namespace
			planes.Delete(t, f.Planes, namespace)
		}},
		"the Workload was made again": {change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Finalizers = nil })
			planes.Delete(t, f.Planes, workload)
			f.workload(t, "main DFW")
		}},
		"the Workload is gone": {change: func(t *testing.T, f *fixture, workload *v1alpha.Workload) {
			t.Helper()
			planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Finalizers = nil })
			planes.Delete(t, f.Planes, workload)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "DFW ORD")
			workload := f.workload(t, "main DFW")
			f.mustReconcile(t)
			deployment := f.readDeployment(t, "web-main-dfw")
			if test.cities != "" {
				f.locations.cities = test.cities
			}
			if test.change != nil {
				test.change(t, f, workload)
			}
			got, err := Wants(f.locations)(t.Context(), f.Project, deployment)
			if err != nil || got != test.want {
				t.Errorf("got %t, %v", got, err)
			}
		})
	}
}

// record makes DFW and ORD candidates of the placement, and records the choice of one of them.
func (f *fixture) record(t *testing.T, workload *v1alpha.Workload, city string) {
	t.Helper()
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) {
		w.Spec.Placements[0].CityCodes, w.Spec.Placements[0].Spread = []string{"DFW", "ORD"}, &v1alpha.PlacementSpread{Cities: 1}
	})
	planes.ChangeStatus(t, f.Planes, workload, func(w *v1alpha.Workload) {
		if city != "" {
			w.Status.Placements[0].Cities = []v1alpha.PlacementCity{{City: city, Phase: v1alpha.CityRunning}}
		}
	})
}

// TestWantsIsNotKnown: an error about the locations is no answer, also of a project that does not serve them.
func TestWantsIsNotKnown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	for name, choice := range map[string]v1alpha.WorkloadPlacement{
		"cities":    {CityCodes: []string{"DFW"}},
		"locations": {Locations: []v1alpha.PlacementLocation{{Name: "dfw-1"}}},
		"selector":  {LocationSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"topology.datum.net/region": "us"}}},
	} {
		planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) {
			choice.Name, choice.ScaleSettings = "main", w.Spec.Placements[0].ScaleSettings
			w.Spec.Placements[0] = choice
		})
		for _, f.locations.err = range []error{errors.New("no answer"), fmt.Errorf("list them: %w", cities.ErrLocationsNotServed)} {
			wanted, err := Wants(f.locations)(t.Context(), f.Project, f.readDeployment(t, "web-main-dfw"))
			if !errors.Is(err, f.locations.err) {
				t.Errorf("%s: %t, %v", name, wanted, err)
			}
		}
	}
}
