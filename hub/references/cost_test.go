// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// cost has the requests of one change of a ConfigMap to the project and the hub, and the bytes of the objects
// that the writes have stored.
type cost struct{ reads, writes, hubWrites, bytes int }

// TestCostOfAChange: with InPlace, a change is one write on the hub, however many Workloads name the object. With
// Rollout, it is a snapshot, and one write of each Workload. go test -v prints the figures of docs/benchmarks.md.
func TestCostOfAChange(t *testing.T) {
	t.Parallel()
	numbers := []int{1, 10}
	if testing.Verbose() {
		numbers = append(numbers, 100)
	}
	costs := map[v1alpha.DataChangePolicy]map[int]cost{v1alpha.DataInPlace: {}, v1alpha.DataRollout: {}}
	for policy, of := range costs {
		for _, workloads := range numbers {
			of[workloads] = costOfAChange(t, policy, workloads)
			t.Logf("%s, %3d Workloads: %+v", policy, workloads, of[workloads])
			want := 1
			if policy == v1alpha.DataRollout {
				want += workloads
			}
			if got := of[workloads]; got.writes != want || got.hubWrites != 1 || got.reads > 5 {
				t.Errorf("%s, %d Workloads: %+v, want %d writes", policy, workloads, got, want)
			}
		}
		// Each Workload costs the same, and no more with more of them.
		few, many := of[10].bytes-of[1].bytes, of[100].bytes-of[10].bytes
		if many > 11*few {
			t.Errorf("%s: 9 more Workloads write %d bytes more, and 90 more %d", policy, few, many)
		}
	}
}

// costOfAChange measures the change of a ConfigMap that so many Workloads with one deployment each name.
func costOfAChange(t *testing.T, policy v1alpha.DataChangePolicy, workloads int) cost {
	t.Helper()
	f := newFixture(t).engage(t)
	source := planes.Create(t, f.Planes, f.app())
	var created []*v1alpha.Workload
	for number := range workloads {
		w := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: fmt.Sprintf("web-%d", number)}}
		w.Spec.Template = templateNaming([]string{"app"}, nil)
		w.Spec.Placements = []v1alpha.WorkloadPlacement{{Name: "main", CityCodes: []string{"DFW"}}}
		if policy == v1alpha.DataRollout {
			w.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: policy}}
		}
		created = append(created, planes.Create(t, f.Planes, w))
	}
	f.mustReconcile(t)
	for _, w := range created {
		w = planes.Get(t, f.Planes, w.Namespace, w.Name, &v1alpha.Workload{})
		template, _ := templates.StartedWith(w)
		original := f.Deployment(w.Name+"-main-dfw", "DFW")
		original.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
		original.Labels[v1alpha.LabelWorkloadUID] = string(w.UID)
		original.Spec.Template = *template
		planes.Create(t, f.Planes, original)
		f.propagate(t, original)
	}
	f.settled(t)

	planes.Change(t, f.Planes, source, func(c *corev1.ConfigMap) { c.Data["colour"] = "red" })
	f.await(t, source)
	for _, plane := range []*planes.Plane{f.Project, f.Hub, f.HubAPI} {
		plane.Calls()
	}
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	result := cost{}
	for _, call := range append(f.Project.Calls(), f.HubAPI.Calls()...) {
		switch call.Verb {
		case "get", "list":
			if call.Kind == "ConfigMap" || call.Kind == "Secret" {
				result.reads++
			}
		default:
			result.writes++
			result.bytes += testenv.Bytes(t, f.stored(t, call))
		}
	}
	for _, call := range f.Hub.Calls() {
		if call.Verb != "get" && call.Verb != "list" {
			result.writes++
			result.hubWrites++
			result.bytes += testenv.Bytes(t, planes.Get(t, f.Planes, f.HubNamespace, call.Name, &corev1.ConfigMap{}))
		}
	}
	return result
}

// stored returns the object of the project that a write has stored.
func (f *fixture) stored(t *testing.T, call planes.Call) any {
	t.Helper()
	if call.Kind != "Workload" {
		t.Fatalf("it writes %v", call)
	}
	return planes.Get(t, f.Planes, f.Namespace.Name, call.Name, &v1alpha.Workload{})
}
