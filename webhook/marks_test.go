// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// marked are the projects that were marked.
type marked []string

func (m *marked) Mark(_ context.Context, project string) { *m = append(*m, project) }

// TestProjectIsMarked: when a Workload of it may be stored, and only then.
func TestProjectIsMarked(t *testing.T) {
	t.Parallel()
	dryRun := func(r *admission.Request) { r.DryRun = new(true) }
	resized := changed(workload("DFW"), func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = 2 })
	for name, test := range map[string]struct {
		request admission.Request
		change  func(*admission.Request)
		lenient bool
		want    []string
	}{
		"created":                   {request: creation(t, workload("DFW")), want: []string{"north"}},
		"updated":                   {request: update(t, workload("DFW"), resized), want: []string{"north"}},
		"annotated":                 {request: update(t, workload("DFW"), workload("DFW"))},
		"dry run":                   {request: creation(t, workload("DFW")), change: dryRun},
		"refused":                   {request: creation(t, workload("XXX"))},
		"refused and stored anyway": {request: creation(t, workload("XXX")), lenient: true, want: []string{"north"}},
		"dry run of a refused one":  {request: creation(t, workload("XXX")), change: dryRun, lenient: true},
		"not looked up and stored anyway": {
			request: creation(t, workload("DFW")), lenient: true, want: []string{"unreachable"},
			change: func(r *admission.Request) { r.UserInfo.Extra = inProject("unreachable") },
		},
		"in no project": {request: creation(t, workload("DFW")), lenient: true, change: func(r *admission.Request) { r.UserInfo.Extra = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.change != nil {
				test.change(&test.request)
			}
			var got marked
			handler := workloads(newProjects())
			handler.Marks, handler.AdmitsRefused = &got, test.lenient
			handler.Handle(t.Context(), test.request)
			if !slices.Equal(got, test.want) {
				t.Errorf("marked %v, want %v", got, test.want)
			}
		})
	}
}
