// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/interpreter"
)

func onHub() *v1alpha.WorkloadDeployment {
	deployment := &v1alpha.WorkloadDeployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: "WorkloadDeployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "ns", Generation: 4},
	}
	deployment.Status.ObservedGeneration = 3
	return deployment
}

// from is the item of a cell with Instances at these indices, and this number of Ready Instances.
func from(t *testing.T, cell string, templateGeneration int64, ready int32, indices ...int) workv1alpha2.AggregatedStatusItem {
	t.Helper()
	status := wire.ReflectedStatus{Generation: 7, ResourceTemplateGeneration: templateGeneration}
	status.ObservedGeneration = 7
	status.Replicas, status.DesiredReplicas, status.ReadyReplicas = int32(len(indices)), int32(len(indices)), ready
	available := metav1.Condition{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue, Reason: "StableInstanceFound",
		LastTransitionTime: metav1.Unix(1767225600, 0),
	}
	if ready == 0 {
		available.Status, available.Reason, available.Message = metav1.ConditionFalse, "InstancesProvisioning", "none is Ready"
	}
	status.Conditions = []metav1.Condition{available}
	var instances []wire.Instance
	for _, index := range indices {
		instances = append(instances, wire.Instance{Name: naming.InstanceName("web", index)})
	}
	status.Reports = []v1alpha.InstanceReport{wire.New("web", instances)}
	status.Indices = []v1alpha.CellIndices{{Existing: naming.Format(indices)}}
	raw, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	return workv1alpha2.AggregatedStatusItem{ClusterName: cell, Status: &runtime.RawExtension{Raw: raw}}
}

func TestAggregateStatus(t *testing.T) {
	cases := map[string]struct {
		items         []workv1alpha2.AggregatedStatusItem
		wantNames     string
		wantReady     int32
		wantObserved  int64
		wantAvailable metav1.ConditionStatus
		wantMessage   string
	}{
		"no cell yet":           {wantObserved: 3},
		"a cell that is silent": {items: []workv1alpha2.AggregatedStatusItem{{ClusterName: "dfw"}}, wantObserved: 3},
		"a cell whose status is null": {
			items: []workv1alpha2.AggregatedStatusItem{{ClusterName: "dfw", Status: &runtime.RawExtension{Raw: []byte("null")}}}, wantObserved: 3,
		},
		"one cell": {
			items: []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 4, 2, 0, 1)}, wantNames: "web-0 web-1", wantReady: 2,
			wantObserved: 4, wantAvailable: "True",
		},
		"one cell that lags": {
			items: []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 3, 1, 0)}, wantNames: "web-0", wantReady: 1,
			wantObserved: 3, wantAvailable: "True",
		},
		"two cells, worst first": {
			items:     []workv1alpha2.AggregatedStatusItem{from(t, "b", 4, 0, 1), from(t, "a", 4, 1, 0, 1)},
			wantNames: "web-0 web-1", wantReady: 1, wantObserved: 4, wantAvailable: "False", wantMessage: "cell b: none is Ready",
		},
		"two cells, all well": {
			items:     []workv1alpha2.AggregatedStatusItem{from(t, "b", 4, 1, 1), from(t, "a", 4, 1, 0)},
			wantNames: "web-0 web-1", wantReady: 2, wantObserved: 4, wantAvailable: "True", wantMessage: "cell a",
		},
		"two cells, one silent": {
			items:     []workv1alpha2.AggregatedStatusItem{from(t, "a", 4, 1, 0), {ClusterName: "b"}},
			wantNames: "web-0", wantReady: 1, wantObserved: 3, wantAvailable: "True",
		},
		"two cells, one lags": {
			items:     []workv1alpha2.AggregatedStatusItem{from(t, "a", 4, 1, 0), from(t, "b", 3, 1, 1)},
			wantNames: "web-0 web-1", wantReady: 2, wantObserved: 3, wantAvailable: "True", wantMessage: "cell a",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := interpreter.AggregateStatus(onHub(), c.items, metav1.Now())
			var names []string
			aggregated := onHub()
			aggregated.Status = *got
			for _, instance := range wire.Instances(aggregated) {
				names = append(names, instance.Name)
			}
			if facts := wire.FactsOf(aggregated); len(facts) != len(names) {
				t.Errorf("the indices say %v of Instances %v", facts, names)
			}
			if joined := strings.Join(names, " "); joined != c.wantNames {
				t.Errorf("Instances %q, want %q", joined, c.wantNames)
			}
			if got.ReadyReplicas != c.wantReady || got.ObservedGeneration != c.wantObserved {
				t.Errorf("ready %d, observed %d, want %d, %d", got.ReadyReplicas, got.ObservedGeneration, c.wantReady, c.wantObserved)
			}
			available := meta.FindStatusCondition(got.Conditions, v1alpha.ConditionAvailable)
			if c.wantAvailable == "" {
				if available != nil {
					t.Errorf("condition %+v out of nothing", available)
				}
				return
			}
			if available.Status != c.wantAvailable || available.Message != c.wantMessage || available.ObservedGeneration != c.wantObserved {
				t.Errorf("condition %+v, want %s %q", available, c.wantAvailable, c.wantMessage)
			}
		})
	}
}

// TestAggregateStatusOfSilentCells: Karmada has no report of an object that it could not apply, and the Instances keep
// running.
func TestAggregateStatusOfSilentCells(t *testing.T) {
	deployment := onHub()
	deployment.Status.Replicas, deployment.Status.Indices = 1, []v1alpha.CellIndices{{Cell: "dfw", Existing: "0"}}
	got := interpreter.AggregateStatus(deployment, []workv1alpha2.AggregatedStatusItem{
		{ClusterName: "dfw", AppliedMessage: "connection refused"},
	}, metav1.Now())
	if !reflect.DeepEqual(got, &deployment.Status) {
		t.Errorf("a silent cell: %+v", got)
	}
	if got = interpreter.AggregateStatus(deployment, nil, metav1.Now()); got.Replicas != 0 || len(got.Indices) != 0 {
		t.Errorf("no cell: %+v", got)
	}
}

// TestGarbageOfOneCell: what cannot be read of one cell's report is not the report of another one, and the condition
// names it.
func TestGarbageOfOneCell(t *testing.T) {
	now := metav1.Unix(1767225600, 0)
	for garbage, named := range map[string]string{
		`{"replicas":"x"}`: "replicas", `7`: "status", `"x"`: "status", `{`: "status", `{"indices":{"a":1}}`: "indices",
		`{"replicas":1e300,"reports":[{"instances":[{"index":"0"}]}]}`: "replicas, reports.instances.index",
		`{"observedGeneration":"","conditions":[7],"replicas":"","readyReplicas":"","suspended":"","selector":7}`: "conditions, observedGeneration, " +
			"readyReplicas, " +
			"replicas, " +
			"selector, …",
	} {
		got := interpreter.AggregateStatus(onHub(), []workv1alpha2.AggregatedStatusItem{
			{ClusterName: "dfw-1", Status: &runtime.RawExtension{Raw: []byte(`{"replicas":3,"readyReplicas":3}`)}},
			{ClusterName: "dfw-2", Status: &runtime.RawExtension{Raw: []byte(garbage)}},
		}, now)
		condition := meta.FindStatusCondition(got.Conditions, v1alpha.ConditionReportValid)
		if got.Replicas != 3 || condition == nil || condition.Status != metav1.ConditionFalse || !condition.LastTransitionTime.Equal(&now) ||
			!strings.HasPrefix(condition.Message, "cell dfw-2: ") || !strings.HasSuffix(condition.Message, ": "+named) {
			t.Errorf("%s: %d replicas, condition %+v", garbage, got.Replicas, condition)
		}
	}
}

func TestInterpretStatus(t *testing.T) {
	inCell := onHub()
	inCell.Annotations = map[string]string{workv1alpha2.ResourceTemplateGenerationAnnotationKey: "12"}
	got, err := interpreter.InterpretStatus(inCell)
	if err != nil || got.Generation != 4 || got.ResourceTemplateGeneration != 12 || got.ObservedGeneration != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
	inCell.Annotations[workv1alpha2.ResourceTemplateGenerationAnnotationKey] = "x"
	if _, err := interpreter.InterpretStatus(inCell); err == nil {
		t.Error("a generation that is no number passed")
	}
}

func TestInterpretStatusIsBounded(t *testing.T) {
	inCell := onHub()
	long := []metav1.Condition{
		{
			Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue, Reason: "Long", Message: strings.Repeat("é", 5000),
			LastTransitionTime: metav1.Unix(1767225600, 0),
		},
	}
	inCell.Status.Conditions = long
	var report v1alpha.InstanceReport
	for i := range int32(1500) {
		report.Instances = append(report.Instances, v1alpha.InstanceEntry{Index: i, State: i})
		report.States = append(report.States, v1alpha.InstanceState{Conditions: []v1alpha.StateCondition{{
			Type: v1alpha.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonAvailable, Message: long[0].Message,
		}}})
	}
	inCell.Status.Reports = []v1alpha.InstanceReport{report}
	got, err := interpreter.InterpretStatus(inCell)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Reports[0].Instances) != 1000 || len(got.Reports[0].States) != 1000 {
		t.Errorf("%d Instances in %d states", len(got.Reports[0].Instances), len(got.Reports[0].States))
	}
	for _, message := range []string{got.Conditions[0].Message, got.Reports[0].States[999].Conditions[0].Message} {
		if len(message) > 512 || !utf8.ValidString(message) || !strings.HasSuffix(message, "é…") {
			t.Errorf("message of %d bytes: %q", len(message), message)
		}
	}
	if in := inCell.Status.Reports[0]; len(in.Instances) != 1500 || len(long[0].Message) != 10000 ||
		len(in.States[0].Conditions[0].Message) != 10000 {
		t.Error("the object itself was changed")
	}
}

func TestInterpretHealth(t *testing.T) {
	healthy := func() *v1alpha.WorkloadDeployment {
		d := onHub()
		d.Status.ObservedGeneration = 4
		d.Status.DesiredReplicas, d.Status.ReadyReplicas = 2, 2
		d.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue}}
		return d
	}
	cases := map[string]struct {
		change func(*v1alpha.WorkloadDeployment)
		want   bool
	}{
		"all Ready":      {change: func(*v1alpha.WorkloadDeployment) {}, want: true},
		"one missing":    {change: func(d *v1alpha.WorkloadDeployment) { d.Status.ReadyReplicas = 1 }},
		"not observed":   {change: func(d *v1alpha.WorkloadDeployment) { d.Status.ObservedGeneration = 3 }},
		"not available":  {change: func(d *v1alpha.WorkloadDeployment) { d.Status.Conditions = nil }},
		"scaled to zero": {change: func(d *v1alpha.WorkloadDeployment) { d.Status.DesiredReplicas, d.Status.ReadyReplicas = 0, 0 }, want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			deployment := healthy()
			c.change(deployment)
			if got := interpreter.InterpretHealth(deployment); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
