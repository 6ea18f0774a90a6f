// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

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

// TestParallelResults: times and CPU time are compared with the floor's, and writes are those of the Workload.
func TestParallelResults(t *testing.T) {
	result := func(took, cpu time.Duration) *parallelResult {
		return &parallelResult{took: took, cpu: cpuTimes{replica: cpu, "etcd": cpu}, writes: writeCounts{{plane: plane}: took.Seconds()}}
	}
	all := &parallelResults{
		floor: result(2*time.Second, 4*time.Millisecond), bare: result(3*time.Second, 8*time.Millisecond), ours: result(4*time.Second, 12*time.Millisecond),
	}
	if got, want := all.row(), []string{"2s", "3s", "1.50×", "4s", "2.00×", "4.0", "0.0", "0.0"}; !slices.Equal(got, want) {
		t.Errorf("row %q", got)
	}
	want := [][]string{
		{"3", "all", "8.00 ms", "16.00 ms", "2.00×", "24.00 ms", "3.00×"},
		{"3", "hub", "4.00 ms", "8.00 ms", "2.00×", "12.00 ms", "3.00×"},
		{"3", "etcd", "4.00 ms", "8.00 ms", "2.00×", "12.00 ms", "3.00×"},
		{"3", replica, "4.00 ms", "8.00 ms", "2.00×", "12.00 ms", "3.00×"},
	}
	if got := all.costs("3"); !reflect.DeepEqual(got, want) {
		t.Errorf("costs %q", got)
	}
}
