// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
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
			handler.ProjectLimit.Instances = 100
			request := creation(t, test.now)
			if test.before != nil {
				request = update(t, test.before, test.now)
			}
			response := handler.Handle(t.Context(), request)
			if response.Allowed != (test.wantText == "") || !response.Allowed && !strings.Contains(response.Result.Message, test.wantText) {
				t.Errorf("allowed: %t, %+v", response.Allowed, response.Result)
			}
			if p.reserved.More.Instances != test.wantMore {
				t.Errorf("reserved %+v, want %d", p.reserved, test.wantMore)
			}
		})
	}
}

// TestBytesAreCounted: the template counts once, and once for each Instance, and the annotations count once.
func TestBytesAreCounted(t *testing.T) {
	of := func(replicas int32, padding int) *v1alpha.Workload {
		return changed(workload("DFW", "ORD"), func(w *v1alpha.Workload) {
			w.Spec.Placements[0].ScaleSettings.MinReplicas = replicas
			w.Annotations = map[string]string{"padding": strings.Repeat("x", padding)}
		})
	}
	encoded, err := json.Marshal(&of(1, 0).Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	template := int64(len(encoded))
	for name, test := range map[string]struct {
		now, before *v1alpha.Workload
		want        int64
	}{
		"created":              {now: of(3, 100), want: 7*template + 107},
		"scaled":               {now: of(4, 100), before: of(3, 100), want: 2 * template},
		"scaled, less padding": {now: of(4, 0), before: of(3, 100), want: 2*template - 100},
		"scaled down":          {now: of(1, 100), before: of(3, 0)},
	} {
		for _, free := range []int64{test.want, test.want - 1} {
			p := newProjects()
			handler := workloads(p)
			handler.ProjectLimit.Bytes = 1 << 20
			p.bytes = handler.ProjectLimit.Bytes - free
			request := creation(t, test.now)
			if test.before != nil {
				request = update(t, test.before, test.now)
			}
			response := handler.Handle(t.Context(), request)
			if p.reserved.More.Bytes != test.want {
				t.Errorf("%s: reserved %+v, want %d", name, p.reserved, test.want)
			}
			wantAllowed := free == test.want || test.want == 0
			if response.Allowed != wantAllowed || !wantAllowed && !strings.Contains(response.Result.Message, "spec.template: Invalid value: adds ") {
				t.Errorf("%s: allowed: %t, %+v", name, response.Allowed, response.Result)
			}
		}
	}
}

// TestSizeOfADyingWorkload: a Workload that is being deleted cannot grow beyond the bound, and its finalizers need no
// project.
func TestSizeOfADyingWorkload(t *testing.T) {
	dying := func(padding int) *v1alpha.Workload {
		return changed(workload("DFW"), func(w *v1alpha.Workload) {
			w.DeletionTimestamp, w.Finalizers = new(metav1.Now()), []string{"example.com/mine"}
			w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", padding)}}
		})
	}
	handler := workloads(newProjects())
	handler.Bounds = validation.Bounds{TemplateBytes: 64 << 10}
	outside := func(now, before *v1alpha.Workload) bool {
		request := update(t, before, now)
		request.UserInfo.Extra = nil
		return handler.Handle(t.Context(), request).Allowed
	}
	if outside(dying(900_000), dying(0)) {
		t.Error("900,000 bytes are admitted")
	}
	released := changed(dying(900_000), func(w *v1alpha.Workload) { w.Finalizers = nil })
	if !outside(dying(10), dying(0)) || !outside(released, dying(900_000)) || !outside(dying(800_000), dying(900_000)) {
		t.Error("a change that does not grow beyond the bound is refused")
	}
}

// TestRefusedInstancesAreNotReserved: the Instances of a refused request and of a dry run are not reserved.
func TestRefusedInstancesAreNotReserved(t *testing.T) {
	p := newProjects()
	handler := workloads(p)
	handler.ProjectLimit.Instances = 100
	if response := handler.Handle(t.Context(), creation(t, workload("XXX"))); response.Allowed || p.reserved != (templates.Reservation{}) {
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
	if response := handler.Handle(t.Context(), creation(t, large)); response.Allowed ||
		!strings.Contains(response.Result.Message, "may have 1024") {
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
