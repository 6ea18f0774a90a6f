// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// TestInstancesAreCounted: a project has a maximum, and a request that adds no Instances is not counted.
func TestInstancesAreCounted(t *testing.T) {
	of := func(replicas int32, cities ...string) *v1alpha.Workload {
		return changed(workload(cities...), func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = replicas })
	}
	selecting := func(replicas int32) *v1alpha.Workload {
		return changed(of(replicas), func(w *v1alpha.Workload) {
			w.Spec.Placements[0].LocationSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"topology.datum.net/region": "us"}}
		})
	}
	tests := map[string]struct {
		now, before *v1alpha.Workload
		have        int64
		wantMore    int64
		wantText    string
	}{
		"as many as there may be": {now: of(40, "DFW", "ORD"), have: 20, wantMore: 80},
		"one too many": {
			now: of(40, "DFW", "ORD"), have: 21, wantMore: 80,
			wantText: `spec.placements: Invalid value: asks for 80 Instances more; the Workloads of project "north" would have 101, and may have 100`,
		},
		"scaled":               {now: of(5, "DFW"), before: of(3, "DFW"), have: 99, wantMore: 2, wantText: "would have 101"},
		"scaled down":          {now: of(3, "DFW"), before: of(5, "DFW"), have: 200},
		"selected":             {now: selecting(60), wantMore: 120, wantText: "asks for 120 Instances more"},
		"selected, and scaled": {now: selecting(6), before: selecting(5), wantMore: 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProjects()
			p.instances = test.have
			handler := workloads(p)
			handler.MaxInstances = 100
			request := creation(t, test.now)
			if test.before != nil {
				request = update(t, test.before, test.now)
			}
			response := handler.Handle(t.Context(), request)
			if response.Allowed != (test.wantText == "") || !response.Allowed && !strings.Contains(response.Result.Message, test.wantText) {
				t.Errorf("allowed: %t, %+v", response.Allowed, response.Result)
			}
			want := webhook.Reservation{More: test.wantMore, Most: 100}
			if test.wantMore == 0 {
				want = webhook.Reservation{}
			}
			if p.reserved != want {
				t.Errorf("reserved %+v, want %+v", p.reserved, want)
			}
		})
	}
}

// TestRefusedInstancesAreNotReserved: the Instances of a refused request and of a dry run are not reserved.
func TestRefusedInstancesAreNotReserved(t *testing.T) {
	p := newProjects()
	handler := workloads(p)
	handler.MaxInstances = 100
	if response := handler.Handle(t.Context(), creation(t, workload("XXX"))); response.Allowed || p.reserved.More != 0 {
		t.Errorf("allowed: %t, reserved %+v", response.Allowed, p.reserved)
	}
	request := creation(t, workload("DFW"))
	request.DryRun = new(true)
	if response := handler.Handle(t.Context(), request); !response.Allowed || !p.reserved.DryRun {
		t.Errorf("allowed: %t, reserved %+v", response.Allowed, p.reserved)
	}
}

// TestBounds: the size of a Workload, and resources that quota does not count, are reviewed.
func TestBounds(t *testing.T) {
	p := newProjects()
	p.known["metered"] = webhook.Project{Name: "metered", UID: "uid", Ready: true, Metered: true}
	handler := workloads(p)
	handler.Bounds = validation.Bounds{TemplateBytes: 1024}
	large := changed(workload("DFW"), func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 1024)}}
	})
	if response := handler.Handle(t.Context(), creation(t, large)); response.Allowed || !strings.Contains(response.Result.Message, "may have 1024") {
		t.Errorf("allowed: %t, %+v", response.Allowed, response.Result)
	}
	gpu := changed(workload("DFW"), func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.Runtime.Resources.Requests = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	})
	for project, wantAllowed := range map[string]bool{"north": true, "metered": false} {
		request := creation(t, gpu)
		request.UserInfo.Extra = inProject(project)
		response := handler.Handle(t.Context(), request)
		if response.Allowed != wantAllowed || !wantAllowed && !strings.Contains(response.Result.Message, "requests[nvidia.com/gpu]") {
			t.Errorf("in project %s, allowed: %t, %+v", project, response.Allowed, response.Result)
		}
	}
}
