// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

func TestReady(t *testing.T) {
	instance := func(status string) *unstructured.Unstructured {
		o := object("compute.datumapis.com/v1alpha", "Instance", "web-main-dfw-0", map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Available", "status": "True"}, map[string]any{"type": "Ready", "status": status},
		}}})
		o.SetLabels(map[string]string{v1alpha.LabelWorkloadName: "web"})
		return o
	}
	set := func(status map[string]any) *unstructured.Unstructured {
		return object("apps/v1", "StatefulSet", "web", map[string]any{"status": status})
	}
	for name, test := range map[string]struct{ got, want string }{
		"an Instance that is Ready":     {readyInstance(instance("True")), "web"},
		"an Instance that is not":       {readyInstance(instance("False")), ""},
		"an Instance without a status":  {readyInstance(object("v1", "Instance", "web-0", map[string]any{})), ""},
		"an Instance without a Service": {readyServed(instance("True")), ""},
		"a StatefulSet that is Ready":   {readySet(set(map[string]any{"readyReplicas": int64(1)})), "web"},
		"a StatefulSet that is not":     {readySet(set(map[string]any{"replicas": int64(1)})), ""},
		"a StatefulSet without a count": {readySet(set(nil)), ""},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q", name, test.got)
		}
	}
	names := &readyNames{ready: map[string]chan struct{}{}}
	waiting := names.of("web")
	names.close("web")
	names.close("web")
	<-waiting
	select {
	case <-names.of("other"):
		t.Error("another one is ready")
	default:
	}
}

// TestObjects: created objects have the awaited kind and name.
func TestObjects(t *testing.T) {
	for kind, make := range map[string]func(string) (*unstructured.Unstructured, error){
		"StatefulSet": newStatefulSet, "Workload": newWorkload,
	} {
		made, err := make("one")
		if err != nil || made.GetKind() != kind || made.GetName() != "one" {
			t.Errorf("made is %+v, %v", made, err)
		}
	}
}

// TestNodes: the nodes have capacity for all measured objects.
func TestNodes(t *testing.T) {
	o := readyOptions{n: 60, warmup: 2, burst: 200}
	if pods := 2 * 262; o.nodes()*250 < pods || o.nodes() > 5 {
		t.Errorf("%d nodes for %d Pods", o.nodes(), pods)
	}
}

// TestTimeline: a request has the time since the creation, its duration, and a user without its namespace.
func TestTimeline(t *testing.T) {
	begin := time.Unix(1000, 0)
	got := timelineRows("floor", begin, []timelineEvent{{"hub", federation.Write{
		Received: begin.Add(5 * time.Millisecond), Time: begin.Add(8 * time.Millisecond), User: "system:serviceaccount:a:b",
		Verb: "patch", Resource: "/pods", Code: 409,
	}}})
	if want := []string{"floor", "5.00 ms", "3.00 ms", "hub", "b", "patch (409)", "pods"}; len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("got %q", got)
	}
}

// TestOwnCPU: this process took some time.
func TestOwnCPU(t *testing.T) {
	if _, err := cpuOf(os.Getpid()); err != nil {
		t.Error(err)
	}
	if _, err := cpuOf(0); err == nil {
		t.Error("process 0 has a CPU time")
	}
}

// TestCPUOfEach: a process's earlier CPU time does not count.
func TestCPUOfEach(t *testing.T) {
	before := cpuTimes{"hub": time.Second, "cell": time.Second}
	after := cpuTimes{"hub": 7 * time.Second, "cell": time.Second}
	if got, want := after.since(before).each(3), (cpuTimes{"hub": 2 * time.Second, "cell": 0}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
