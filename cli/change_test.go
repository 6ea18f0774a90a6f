// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"maps"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestRestart(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	f.want(f.kubectl(f.user(may(read, "workloads")), "restart", "web"), 1, "forbidden")
	f.want(f.kubectl(f.Config(), "restart", "web"), 0, "workload.compute.datumapis.com/web restarted")
	f.get(w)
	if got := w.Spec.Template.Annotations[v1alpha.AnnotationRestartedAt]; got != now.Format(time.RFC3339) {
		t.Errorf("restarted at %q", got)
	}
	f.want(f.kubectl(f.Config(), "restart", "web"), 1, "restarted within this second")
	f.want(f.kubectl(f.Config(), "restart", "none"), 1, `workloads.compute.datumapis.com "none" not found`)
	f.want(f.karmadactl("restart", "web", "--project", "north"), 1, "--milo-kubeconfig")
}

func (f *fixture) get(object client.Object) {
	f.Helper()
	if err := f.Client.Get(f.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		f.Fatal(err)
	}
}

func TestScale(t *testing.T) {
	f := newFixture(t)
	most := int32(4)
	scaled := placement("metered", 1, "IAD")
	usage := int32(50)
	scaled.ScaleSettings.MaxReplicas = &most
	scaled.ScaleSettings.Metrics = []v1alpha.MetricSpec{{Resource: &v1alpha.ResourceMetricSource{
		Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: &usage},
	}}}
	selected := v1alpha.WorkloadPlacement{
		Name: "selected", ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
		LocationSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"region": "west"}},
	}
	w := f.workload(placement("texas", 2, "DFW"), placement("both", 1, "ORD", "SEA"), scaled, selected)
	f.deployment(w, "selected", "LAX", 1)
	cases := []struct {
		name string
		args []string
		code int
		says string
		want map[string]int32
	}{
		{"a city", []string{"--city", "dfw", "--replicas", "3"}, 0, "web scaled", map[string]int32{"texas": 3}},
		{"a city of a selector", []string{"--city", "LAX", "--replicas", "2"}, 0, "web scaled", map[string]int32{"selected": 2}},
		{"a placement", []string{"--placement", "both", "--replicas", "5"}, 0, "web scaled", map[string]int32{"both": 5}},
		{"a city that shares", []string{"--city", "ORD", "--replicas", "3"}, 1, "placement both has one scale for ORD, SEA", nil},
		{"an unknown city", []string{"--city", "XXX", "--replicas", "3"}, 1, "no placement of Workload web is in XXX", nil},
		{"no city", []string{"--replicas", "3"}, 1, "texas, both, metered, selected", nil},
		{"too many for the autoscaler", []string{"--city", "IAD", "--replicas", "5"}, 1, "raise its maxReplicas", nil},
		{
			"another number than expected",
			[]string{"--city", "DFW", "--replicas", "1", "--current-replicas", "2"},
			1,
			"asks for 3 Instances, not 2", nil,
		},
		{
			"the expected number",
			[]string{"--city", "DFW", "--replicas", "1", "--current-replicas", "3"},
			0, "web scaled",
			map[string]int32{"texas": 1},
		},
		{"none", []string{"--city", "DFW", "--replicas", "0"}, 0, "web scaled", map[string]int32{"texas": 0}},
		{"some again", []string{"--city", "DFW", "--replicas", "1", "--current-replicas", "0"}, 0, "web scaled", map[string]int32{"texas": 1}},
		{"fewer than none", []string{"--city", "DFW", "--replicas", "-1"}, 1, "at least 0", nil},
		{"none of metrics", []string{"--city", "IAD", "--replicas", "0"}, 1, "cannot start the first Instance", nil},
		{"no number", []string{"--city", "DFW"}, 1, "replicas", nil},
		{"more than the API has", []string{"--city", "DFW", "--replicas", "5001"}, 1, "should be less than or equal to 5000", nil},
		{"a city and a placement", []string{"--city", "DFW", "--placement", "texas", "--replicas", "1"}, 1, "placement", nil},
	}
	want := map[string]int32{"texas": 2, "both": 1, "metered": 1, "selected": 1}
	for _, c := range cases {
		maps.Copy(want, c.want)
		f.want(f.kubectl(f.Config(), append([]string{"scale", "web"}, c.args...)...), c.code, c.says)
		f.get(w)
		for _, p := range w.Spec.Placements {
			if p.ScaleSettings.MinReplicas != want[p.Name] {
				t.Errorf("%s: placement %s asks for %d, want %d", c.name, p.Name, p.ScaleSettings.MinReplicas, want[p.Name])
			}
		}
	}
}
