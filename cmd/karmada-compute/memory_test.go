// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/testenv"
	testplanes "github.com/karmada-compute/karmada-compute/testenv/planes"
)

const (
	// projectBytes is the default of --max-project-bytes, and templateBytes of --max-template-bytes.
	projectBytes, templateBytes = 40 << 20, 64 << 10
	// replicaLimit is host.resources.limits.memory of the chart. A garbage collection is due when the heap has doubled.
	replicaLimit = 1 << 30
)

// TestMemoryAtTheBound: a replica holds a project that uses its maximum, twice over: each Workload with its
// deployments, here and on the hub, and the Instances. One Instance for each deployment takes most.
func TestMemoryAtTheBound(t *testing.T) {
	options, err := hub.CacheOptions("hub")
	if err != nil {
		t.Fatal(err)
	}
	var ofHub toolscache.TransformFunc
	for kind, by := range options.ByObject {
		if _, is := kind.(*v1alpha.WorkloadDeployment); is {
			ofHub = by.Transform
		}
	}
	if ofHub == nil {
		ofHub = options.DefaultTransform
	}
	const sample = 30
	for name, env := range testenv.Shapes(templateBytes) {
		template := testplanes.Template("registry.example/app:1")
		template.Spec.Runtime.Sandbox.Containers[0].Env = env
		meta := metav1.ObjectMeta{Namespace: "ns-0b8b1c38-7e0f-4d0c-b6f3-0d9d6d6f9b11", Name: "web", UID: "0b8b1c38-7e0f-4d0c-b6f3-0d9d6d6f9b11"}
		deployment := &v1alpha.WorkloadDeployment{ObjectMeta: meta, Spec: v1alpha.WorkloadDeploymentSpec{Template: template}}
		held := []struct {
			object  any
			empty   func() any
			trimmed toolscache.TransformFunc
		}{
			{
				&v1alpha.Workload{ObjectMeta: meta, Spec: v1alpha.WorkloadSpec{Template: template}},
				func() any { return &v1alpha.Workload{} }, milo.TrimOriginal,
			},
			{deployment, func() any { return &v1alpha.WorkloadDeployment{} }, milo.TrimOriginal},
			{&v1alpha.Instance{ObjectMeta: meta, Spec: template.Spec}, func() any { return &v1alpha.Instance{} }, milo.TrimOriginal},
			{deployment, func() any { return &v1alpha.WorkloadDeployment{} }, ofHub},
		}
		cached := make([]any, 0, sample*len(held))
		used := testenv.Heap(func() {
			for range sample {
				for _, one := range held {
					object := one.empty()
					if err := json.Unmarshal(encoded(t, one.object), object); err != nil {
						t.Fatal(err)
					}
					trimmed, err := one.trimmed(object)
					if err != nil {
						t.Fatal(err)
					}
					cached = append(cached, trimmed)
				}
			}
		})
		runtime.KeepAlive(cached)
		counted := templates.WorkloadBytes(len(encoded(t, &template)), 0, 1)
		atBound := float64(used) / float64(sample*counted) * 2 * projectBytes
		t.Logf("%s: %.0f MiB at twice the bound", name, atBound/(1<<20))
		if 2*atBound > replicaLimit {
			t.Errorf("%s: %.0f MiB at twice the bound, and the limit is %d", name, 2*atBound/(1<<20), replicaLimit>>20)
		}
	}
}

func encoded(t *testing.T, object any) []byte {
	t.Helper()
	content, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
