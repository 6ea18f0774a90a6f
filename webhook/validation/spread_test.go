// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestSpread(t *testing.T) {
	const path = "spec.placements[0].spread."
	// of makes the first placement one with two candidates.
	of := func(mutate func(*v1alpha.PlacementSpread)) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			w.Spec.Placements[0].CityCodes = []string{"DFW", "ORD"}
			w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: 1}
			mutate(w.Spec.Placements[0].Spread)
		}
	}
	failover := func(f v1alpha.PlacementFailover) func(*v1alpha.Workload) {
		return of(func(s *v1alpha.PlacementSpread) { s.Failover = &f })
	}
	lasting := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	// beside adds a placement with these cities.
	beside := func(spread bool, codes ...string) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			of(func(*v1alpha.PlacementSpread) {})(w)
			other := *w.Spec.Placements[0].DeepCopy()
			other.Name, other.CityCodes = "other", codes
			if !spread {
				other.Spread = nil
			}
			w.Spec.Placements = append(w.Spec.Placements, other)
		}
	}
	checkRules(t, []rule{
		{"one of two", nil, of(func(*v1alpha.PlacementSpread) {}), nil},
		{"all", nil, of(func(s *v1alpha.PlacementSpread) { s.Cities = 2 }), nil},
		{"more than candidates", nil, of(func(s *v1alpha.PlacementSpread) { s.Cities = 3 }), []string{path + "cities " + invalid}},
		{"no city", nil, of(func(s *v1alpha.PlacementSpread) { s.Cities = 0 }), []string{path + "cities " + invalid}},
		{"more than locations", nil, func(w *v1alpha.Workload) {
			of(func(s *v1alpha.PlacementSpread) { s.Cities = 2 })(w)
			w.Spec.Placements[0].CityCodes, w.Spec.Placements[0].Locations = nil, []v1alpha.PlacementLocation{{Name: "dfw-1"}}
		}, []string{path + "cities " + invalid}},
		{"failover with defaults", nil, failover(v1alpha.PlacementFailover{}), nil},
		{"never", nil, failover(v1alpha.PlacementFailover{Return: v1alpha.ReturnNever, After: lasting(time.Minute)}), nil},
		{
			"sooner than the hub notices", nil, failover(v1alpha.PlacementFailover{After: lasting(20 * time.Second)}),
			[]string{path + "failover.after " + invalid},
		},
		{
			"too long", nil, failover(v1alpha.PlacementFailover{StableFor: lasting(25 * time.Hour)}),
			[]string{path + "failover.stableFor " + invalid},
		},
		{"another return", nil, failover(v1alpha.PlacementFailover{Return: "Soon"}), []string{path + "failover.return " + unsupported}},
		{"overflow", nil, of(func(s *v1alpha.PlacementSpread) {
			s.Failover, s.Overflow = &v1alpha.PlacementFailover{}, &v1alpha.PlacementOverflow{After: lasting(time.Minute)}
		}), nil},
		{
			"overflow without the rules of the return, too soon", nil,
			of(func(s *v1alpha.PlacementSpread) { s.Overflow = &v1alpha.PlacementOverflow{After: lasting(time.Second)} }),
			[]string{path + "overflow.after " + invalid, path + "failover " + required},
		},
		{"overflow of a placement that is scaled", nil, func(w *v1alpha.Workload) {
			of(func(s *v1alpha.PlacementSpread) {
				s.Failover, s.Overflow = &v1alpha.PlacementFailover{}, &v1alpha.PlacementOverflow{}
			})(w)
			scale := &w.Spec.Placements[0].ScaleSettings
			scale.MaxReplicas = new(scale.MinReplicas + 1)
			scale.Metrics = []v1alpha.MetricSpec{{Resource: &v1alpha.ResourceMetricSource{
				Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(60))},
			}}}
		}, []string{path + "overflow " + invalid}},
		{"other cities", nil, beside(true, "LHR"), nil},
		{"a city in two placements", nil, beside(true, "LHR", "ord"), []string{"spec.placements[1].cityCodes[1] " + invalid}},
		{"a city to leave", nil, func(w *v1alpha.Workload) {
			w.Annotations = map[string]string{v1alpha.AnnotationLeaveCities: "DFW,ORD=LAX"}
		}, nil},
		{
			"no city to leave", nil, func(w *v1alpha.Workload) { w.Annotations = map[string]string{v1alpha.AnnotationLeaveCities: "DFW>ORD"} },
			[]string{"metadata.annotations " + invalid},
		},
		{"a candidate that another one names", nil, beside(false, "DFW"), []string{"spec.placements[1].cityCodes[0] " + invalid}},
	})
}
