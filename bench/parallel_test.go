// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestParallel: what is created has all Pods, which do not wait for each other, and is ready when all of them are.
func TestParallel(t *testing.T) {
	floor := (&readySubject{object: newStatefulSet, ready: readySet}).parallel(3)
	set, err := floor.object("web")
	if err != nil {
		t.Fatal(err)
	}
	policy, _, _ := unstructured.NestedString(set.Object, "spec", "podManagementPolicy")
	if replicas, _, _ := unstructured.NestedInt64(set.Object, "spec", "replicas"); replicas != 3 || policy != "Parallel" {
		t.Errorf("the floor has %d replicas, %s", replicas, policy)
	}
	for replicas, want := range map[int64]string{2: "", 3: "web"} {
		set.Object["status"] = map[string]any{"readyReplicas": replicas}
		if got := floor.ready(set); got != want {
			t.Errorf("with %d Ready it is %q, want %q", replicas, got, want)
		}
	}
	ours := (&readySubject{object: newWorkload, ready: readyInstance}).parallel(2)
	workload, err := ours.object("web")
	if err != nil {
		t.Fatal(err)
	}
	placements, _, _ := unstructured.NestedSlice(workload.Object, "spec", "placements")
	settings := placements[0].(map[string]any)["scaleSettings"] //nolint:forcetypeassert // It panics, and the test fails.
	if got := fmt.Sprint(settings); len(placements) != 1 || got != "map[instanceManagementPolicy:Parallel minReplicas:2]" {
		t.Errorf("the Workload has %d placements, %s", len(placements), got)
	}
	instance := func(index int, status string) *unstructured.Unstructured {
		o := object("compute.datumapis.com/v1alpha", v1alpha.KindInstance, v1alpha.InstanceName("web", index), map[string]any{
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status}}},
		})
		o.SetLabels(map[string]string{v1alpha.LabelWorkloadName: "web"})
		return o
	}
	steps := []struct {
		instance *unstructured.Unstructured
		want     string
	}{
		{instance(0, "True"), ""},
		{instance(0, "True"), ""},
		{instance(1, "False"), ""},
		{instance(0, "False"), ""},
		{instance(1, "True"), ""},
		{instance(0, "True"), "web"},
	}
	for i, step := range steps {
		if got := ours.ready(step.instance); got != step.want {
			t.Errorf("step %d: it is %q, want %q", i, got, step.want)
		}
	}
}
