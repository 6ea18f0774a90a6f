// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// spreading makes the cities candidates, of which so many run the Instances.
func spreading(w *v1alpha.Workload, count int32) *v1alpha.Workload {
	w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: count}
	return w
}

// beside adds a placement at a location.
func beside(w *v1alpha.Workload, location string) *v1alpha.Workload {
	other := *at(w.DeepCopy(), location).Spec.Placements[0].DeepCopy()
	other.Name, other.Spread = "beside", nil
	w.Spec.Placements = append(w.Spec.Placements, other)
	return w
}

// TestSpreadWarnings: a selector that has too few candidates now may have more later.
func TestSpreadWarnings(t *testing.T) {
	for count, want := range map[int32]string{1: "", 9: "spec.placements[0].spread.cities: the selector has "} {
		response := workloads(newProjects()).Handle(t.Context(), creation(t, spreading(selecting(workload(), "us"), count)))
		if !response.Allowed || (want == "") != (len(response.Warnings) == 0) || !strings.Contains(strings.Join(response.Warnings, "\n"), want) {
			t.Errorf("%d: allowed %t with warnings %q", count, response.Allowed, response.Warnings)
		}
	}
}
