// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/interpreter"
)

// TestFunctionsLeaveTheirObjectsAlone: Karmada passes objects of its cache, which the functions must not change.
func TestFunctionsLeaveTheirObjectsAlone(t *testing.T) {
	object, observed := onHub(), onHub()
	object.Annotations = map[string]string{v1alpha.AnnotationProjectName: "p"}
	object.Spec.ScaleSettings = v1alpha.HorizontalScaleSettings{
		MinReplicas: 1, MaxReplicas: new(int32(3)), Metrics: make([]v1alpha.MetricSpec, 1),
	}
	observed.Spec.Replicas = new(int32(9))
	before, beforeObserved := object.DeepCopy(), observed.DeepCopy()
	if got := interpreter.Retain(object, observed); *got.Spec.Replicas != 3 {
		t.Errorf("retained %d", *got.Spec.Replicas)
	}
	interpreter.ReviseReplica(object, 2)
	compare(t, "object", answer{"object": object}, nil, answer{"object": before}, "")
	compare(t, "observed", answer{"object": observed}, nil, answer{"object": beforeObserved}, "")
}

// TestReplicaIsWhatReviseReplicaSet: Karmada reads its own value back.
func TestReplicaIsWhatReviseReplicaSet(t *testing.T) {
	for _, replicas := range []int32{0, 1, 7, 1000} {
		if got, _ := interpreter.InterpretReplica(interpreter.ReviseReplica(onHub(), replicas)); got != replicas {
			t.Errorf("got %d, want %d", got, replicas)
		}
	}
}

// TestInstanceSizeIsTheCallersOwn: a caller may change a size, and the recorded resources of the type must not change
// with it.
func TestInstanceSizeIsTheCallersOwn(t *testing.T) {
	typeResources := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	size := templates.InstanceSize(&v1alpha.InstanceSpec{}, typeResources)
	cpu := size["cpu"]
	cpu.Add(resource.MustParse("5"))
	size["cpu"] = cpu
	if typeResources.Cpu().MilliValue() != 1000 {
		t.Errorf("recorded %v", typeResources)
	}
}

// TestCellKeepsItsAnnotations: Karmada merges the annotations before it requests Retain, and drops annotations that
// were removed on the hub.
func TestCellKeepsItsAnnotations(t *testing.T) {
	desired := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"annotations": map[string]any{"hub": "new"}}}}
	observed := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		"hub": "old", "removed": "from the hub", "cell": "own", workv1alpha2.ManagedAnnotation: "hub,removed," + workv1alpha2.ManagedAnnotation,
	}}}}
	util.RetainAnnotations(desired, observed)
	asked := request(t, configv1alpha1.InterpreterOperationRetain)
	asked.Object.Raw, asked.ObservedObject.Raw = encoded(t, desired.Object), encoded(t, observed.Object)
	response := ask(t, asked)
	if !response.Successful || response.Patch != nil {
		t.Errorf("response %+v", response)
	}
	if want := map[string]string{"hub": "new", "cell": "own"}; !maps.Equal(desired.GetAnnotations(), want) {
		t.Errorf("annotations %v, want %v", desired.GetAnnotations(), want)
	}
}

// TestNoPatchWithoutDifference: a patch lets Karmada write.
func TestNoPatchWithoutDifference(t *testing.T) {
	revise := request(t, configv1alpha1.InterpreterOperationReviseReplica)
	revise.Object.Raw = []byte(`{"spec":{"replicas":3}}`)
	retain := request(t, configv1alpha1.InterpreterOperationRetain)
	for _, asked := range []*configv1alpha1.ResourceInterpreterRequest{revise, retain} {
		if response := ask(t, asked); !response.Successful || response.Patch != nil || response.PatchType != nil {
			t.Errorf("%s: %+v", asked.Operation, response)
		}
	}
}

func TestHandlerRefuses(t *testing.T) {
	cases := map[string]struct {
		operation configv1alpha1.InterpreterOperation
		change    func(*configv1alpha1.ResourceInterpreterRequest)
		want      string
	}{
		"no object": {
			operation: "InterpretReplica", change: func(r *configv1alpha1.ResourceInterpreterRequest) { r.Object.Raw = []byte(`7`) },
			want: "decode the WorkloadDeployment",
		},
		"an object of other types": {
			operation: "InterpretReplica",
			change:    func(r *configv1alpha1.ResourceInterpreterRequest) { r.Object.Raw = []byte(`{"spec":{"replicas":"x"}}`) },
			want:      "decode the WorkloadDeployment",
		},
		"an object that is missing": {
			operation: "InterpretHealth", change: func(r *configv1alpha1.ResourceInterpreterRequest) { r.Object.Raw = nil },
			want: "decode the WorkloadDeployment",
		},
		"no replicas": {
			operation: "ReviseReplica", change: func(r *configv1alpha1.ResourceInterpreterRequest) { r.DesiredReplicas = nil }, want: "0 or more",
		},
		"negative replicas": {
			operation: "ReviseReplica", change: func(r *configv1alpha1.ResourceInterpreterRequest) { *r.DesiredReplicas = -1 }, want: "0 or more",
		},
		"nothing observed": {
			operation: "Retain", change: func(r *configv1alpha1.ResourceInterpreterRequest) { r.ObservedObject = nil }, want: "observedObject",
		},
		"observed garbage": {operation: "Retain", change: func(r *configv1alpha1.ResourceInterpreterRequest) {
			r.ObservedObject = &runtime.RawExtension{Raw: []byte(`{"spec":[]}`)}
		}, want: "observed WorkloadDeployment"},
		"components": {
			operation: "InterpretComponent", change: func(*configv1alpha1.ResourceInterpreterRequest) {},
			want: `"InterpretComponent" is not interpreted`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			asked := request(t, c.operation)
			c.change(asked)
			response := ask(t, asked)
			if response.Successful || response.Status.Code != http.StatusBadRequest || !strings.Contains(response.Status.Message, c.want) {
				t.Errorf("response %+v, status %+v, want %q", response, response.Status, c.want)
			}
		})
	}
}

// TestHandlerIsConcurrent is for the race detector.
func TestHandlerIsConcurrent(t *testing.T) {
	cases := huge(t)
	var group sync.WaitGroup
	for range 4 {
		for _, operation := range slices.Sorted(maps.Keys(cases)) {
			group.Go(func() { runGo(t, operation, cases[operation]) })
		}
	}
	group.Wait()
}

func TestRequestsAreCounted(t *testing.T) {
	before := counted(t)
	ask(t, request(t, configv1alpha1.InterpreterOperationInterpretHealth))
	ask(t, request(t, "Dance"))
	send([]byte(`{`))
	after := counted(t)
	for series, want := range map[string]float64{"InterpretHealth answered": 1, "unknown refused": 2, "Dance refused": 0} {
		if got := after[series] - before[series]; got != want {
			t.Errorf("%s: %v more, want %v", series, got, want)
		}
	}
}

// counted are the values of the counter by "operation outcome".
func counted(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "karmada_compute_interpreter_requests_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			var names []string
			for _, pair := range metric.GetLabel() {
				names = append(names, pair.GetValue())
			}
			values[strings.Join(names, " ")] = metric.GetCounter().GetValue()
		}
	}
	return values
}
