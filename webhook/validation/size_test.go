// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// ofSize is a Workload with a template of so many bytes.
func ofSize(t *testing.T, size int) *v1alpha.Workload {
	t.Helper()
	w := sandbox()
	container(w).Env = []corev1.EnvVar{{Name: "A", Value: "x"}}
	encoded, err := json.Marshal(&w.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	container(w).Env[0].Value = strings.Repeat("x", size-len(encoded)+1)
	return w
}

func TestSize(t *testing.T) {
	bounds := Bounds{TemplateBytes: 64 << 10, CityBytes: 64 << 20}
	const template, minReplicas = "spec.template ", scalePath + "minReplicas "
	placed := func(size int, placements ...v1alpha.WorkloadPlacement) *v1alpha.Workload {
		w := ofSize(t, size)
		w.Spec.Placements = placements
		return w
	}
	in := func(replicas int32, cities ...string) v1alpha.WorkloadPlacement {
		return v1alpha.WorkloadPlacement{Name: "a", CityCodes: cities, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: replicas}}
	}
	scaled := in(1, "DFW")
	scaled.ScaleSettings.MaxReplicas = new(int32(5000))
	selected := in(600)
	selected.LocationSelector = &metav1.LabelSelector{}
	tests := map[string]struct {
		now, before *v1alpha.Workload
		bounds      Bounds
		want        []string
	}{
		"at the bound":        {now: ofSize(t, 64<<10), bounds: bounds},
		"above the bound":     {now: ofSize(t, 64<<10+1), bounds: bounds, want: []string{template + invalid}},
		"no bound":            {now: ofSize(t, 1<<20)},
		"stored, and smaller": {now: ofSize(t, 100<<10), before: ofSize(t, 101<<10), bounds: bounds},
		"stored, and larger": {
			now: ofSize(t, 101<<10), before: ofSize(t, 100<<10), bounds: bounds, want: []string{template + invalid},
		},
		"5,000 copies of 13 kB": {now: placed(13<<10, in(5000, "DFW")), bounds: bounds},
		"5,000 copies of 14 kB": {now: placed(14<<10, in(5000, "DFW")), bounds: bounds, want: []string{minReplicas + invalid}},
		"in two cities each":    {now: placed(14<<10, in(3000, "DFW", "ORD")), bounds: bounds},
		"in two placements of one city": {
			now: placed(14<<10, in(3000, "DFW"), in(3000, "dfw")), bounds: bounds,
			want: []string{"spec.placements[1].scaleSettings.minReplicas " + invalid},
		},
		"as many as autoscaling may ask for": {
			now: placed(14<<10, scaled), bounds: bounds, want: []string{scalePath + "maxReplicas " + invalid},
		},
		"selected, which may be the same city": {
			now: placed(64<<10, in(600, "DFW"), selected), bounds: bounds, want: []string{minReplicas + invalid},
		},
		"stored, in another city": {now: placed(64<<10, in(5000, "DFW"), in(1, "ORD")), before: placed(64<<10, in(5000, "DFW")), bounds: bounds},
		"stored, and more": {
			now: placed(64<<10, in(5000, "DFW")), before: placed(64<<10, in(4999, "DFW")), bounds: bounds, want: []string{minReplicas + invalid},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { wantProblems(t, Size(test.now, test.before, test.bounds), test.want...) })
	}
	text := fmt.Sprint(Size(placed(900_000, in(400, "DFW")), nil, bounds).ToAggregate())
	for _, want := range []string{"has 900000 bytes", "may have 65536", "400 Instances in DFW", "360000000 bytes, and may be 67108864"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in: %s", want, text)
		}
	}
}

func TestMetered(t *testing.T) {
	w := sandbox()
	w.Spec.Template.Spec.Runtime.Resources.Requests = resources("cpu", "1", "memory", "1Gi", "nvidia.com/gpu", "8")
	container(w).Resources = &v1alpha.ContainerResourceRequirements{
		Limits: resources("cpu", "1", "hugepages-2Mi", "1Gi"), Requests: resources("ephemeral-storage", "1Ti"),
	}
	want := []string{
		specPath + "runtime.resources.requests[nvidia.com/gpu] " + forbidden,
		containerPath + "resources.limits[hugepages-2Mi] " + forbidden,
		containerPath + "resources.requests[ephemeral-storage] " + forbidden,
	}
	wantProblems(t, Metered(w, nil), want...)
	wantProblems(t, Metered(w, w))
	wantProblems(t, Metered(w, sandbox()), want...)
	wantProblems(t, Metered(machine(), nil))
}

func TestAnnotationsWithoutEffect(t *testing.T) {
	of := func(base func() *v1alpha.Workload, keys ...string) string {
		w := base()
		for _, key := range keys {
			metav1.SetMetaDataAnnotation(&w.Spec.Template.ObjectMeta, key, "value")
		}
		return strings.Join(annotationWarnings(&w.Spec.Template), "; ")
	}
	if got := of(machine, v1alpha.AnnotationRestartedAt); got != "" {
		t.Errorf("warnings %q", got)
	}
	if got := of(sandbox, "team", "version"); got != "" {
		t.Errorf("warnings %q", got)
	}
	if got := of(machine, "team"); !strings.Contains(got,
		"annotations: team: set on the Instances, with no effect on their virtual machines") {
		t.Errorf("warnings %q", got)
	}
	if got := of(sandbox, annotationSSHKeys, "e/b", "e/a", "io.kata", "e/d", "plain"); !strings.Contains(got,
		"annotations: compute.datumapis.com/ssh-keys, e/a, e/b and 2 more: ") {
		t.Errorf("warnings %q", got)
	}
}
