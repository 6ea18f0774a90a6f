// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
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

// from is the item of a cell that has so many of so many Instances Ready.
func from(t *testing.T, cell string, templateGeneration int64, ready int32, names ...string) workv1alpha2.AggregatedStatusItem {
	t.Helper()
	status := interpreter.ReflectedStatus{Generation: 7, ResourceTemplateGeneration: templateGeneration}
	status.ObservedGeneration = 7
	status.Replicas, status.DesiredReplicas, status.ReadyReplicas = int32(len(names)), int32(len(names)), ready
	available := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue, Reason: "StableInstanceFound"}
	if ready == 0 {
		available.Status, available.Reason, available.Message = metav1.ConditionFalse, "InstancesProvisioning", "none is Ready"
	}
	status.Conditions = []metav1.Condition{available}
	for _, name := range names {
		status.Instances = append(status.Instances, v1alpha.ReportedInstance{Name: name})
	}
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
		"no cell yet":             {wantObserved: 3},
		"a cell that is silent":   {items: []workv1alpha2.AggregatedStatusItem{{ClusterName: "dfw"}}, wantObserved: 3},
		"a cell that says null":   {items: []workv1alpha2.AggregatedStatusItem{{ClusterName: "dfw", Status: &runtime.RawExtension{Raw: []byte("null")}}}, wantObserved: 3},
		"one cell":                {items: []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 4, 2, "web-0", "web-1")}, wantNames: "web-0 web-1", wantReady: 2, wantObserved: 4, wantAvailable: "True"},
		"one cell that lags":      {items: []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 3, 1, "web-0")}, wantNames: "web-0", wantReady: 1, wantObserved: 3, wantAvailable: "True"},
		"sorted by index":         {items: []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 4, 1, "web-10", "web-9")}, wantNames: "web-9 web-10", wantReady: 1, wantObserved: 4, wantAvailable: "True"},
		"names of others dropped": {items: []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 4, 1, "web-0", "db-0", "web-x", "web-01")}, wantNames: "web-0", wantReady: 1, wantObserved: 4, wantAvailable: "True"},
		"two cells, worst first": {
			items:     []workv1alpha2.AggregatedStatusItem{from(t, "b", 4, 0, "web-1"), from(t, "a", 4, 1, "web-0", "web-1")},
			wantNames: "web-0 web-1", wantReady: 1, wantObserved: 4, wantAvailable: "False", wantMessage: "cell b: none is Ready",
		},
		"two cells, one lags": {
			items:     []workv1alpha2.AggregatedStatusItem{from(t, "a", 4, 1, "web-0"), from(t, "b", 3, 1, "web-1")},
			wantNames: "web-0 web-1", wantReady: 2, wantObserved: 3, wantAvailable: "True",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := interpreter.AggregateStatus(onHub(), c.items)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, instance := range got.Instances {
				names = append(names, instance.Name)
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

func TestAggregateStatusNamesTheClusterOfGarbage(t *testing.T) {
	_, err := interpreter.AggregateStatus(onHub(), []workv1alpha2.AggregatedStatusItem{{ClusterName: "dfw", Status: &runtime.RawExtension{Raw: []byte(`{"replicas":"x"}`)}}})
	if err == nil || !strings.Contains(err.Error(), "dfw") {
		t.Errorf("error is %v", err)
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
		"all Ready":     {change: func(*v1alpha.WorkloadDeployment) {}, want: true},
		"one missing":   {change: func(d *v1alpha.WorkloadDeployment) { d.Status.ReadyReplicas = 1 }},
		"not observed":  {change: func(d *v1alpha.WorkloadDeployment) { d.Status.ObservedGeneration = 3 }},
		"not available": {change: func(d *v1alpha.WorkloadDeployment) { d.Status.Conditions = nil }},
		"nothing asked": {change: func(d *v1alpha.WorkloadDeployment) { d.Status.DesiredReplicas, d.Status.ReadyReplicas = 0, 0 }},
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

// ask sends a request as Karmada does.
func ask(t testing.TB, request *configv1alpha1.ResourceInterpreterRequest) *configv1alpha1.ResourceInterpreterResponse {
	t.Helper()
	body, err := json.Marshal(configv1alpha1.ResourceInterpreterContext{
		TypeMeta: metav1.TypeMeta{APIVersion: "config.karmada.io/v1alpha1", Kind: "ResourceInterpreterContext"}, Request: request,
	})
	if err != nil {
		t.Fatal(err)
	}
	recorder := send(body)
	var answer configv1alpha1.ResourceInterpreterContext
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		t.Fatalf("answer %q: %v", recorder.Body, err)
	}
	return answer.Response
}

func send(body []byte) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, interpreter.Path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	interpreter.NewHandler().ServeHTTP(recorder, request)
	return recorder
}

func request(t testing.TB, operation configv1alpha1.InterpreterOperation) *configv1alpha1.ResourceInterpreterRequest {
	t.Helper()
	raw, err := json.Marshal(onHub())
	if err != nil {
		t.Fatal(err)
	}
	return &configv1alpha1.ResourceInterpreterRequest{
		UID: "uid", Operation: operation, Object: runtime.RawExtension{Raw: raw},
		Kind: metav1.GroupVersionKind{Group: "compute.datumapis.com", Version: "v1alpha", Kind: "WorkloadDeployment"},
	}
}

func TestHandler(t *testing.T) {
	if response := ask(t, request(t, configv1alpha1.InterpreterOperationInterpretStatus)); !response.Successful || response.RawStatus == nil {
		t.Errorf("InterpretStatus: %+v", response)
	}
	if response := ask(t, request(t, configv1alpha1.InterpreterOperationInterpretHealth)); !response.Successful || response.Healthy == nil {
		t.Errorf("InterpretHealth: %+v", response)
	}
	aggregate := request(t, configv1alpha1.InterpreterOperationAggregateStatus)
	aggregate.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 4, 1, "web-0")}
	if response := ask(t, aggregate); !response.Successful || !bytes.Contains(response.Patch, []byte("web-0")) || bytes.Contains(response.Patch, []byte("/spec")) {
		t.Errorf("AggregateStatus: %+v, patch %s", response, response.Patch)
	}
	unknown := request(t, "Dance")
	if response := ask(t, unknown); response.Successful || response.Status.Code != http.StatusBadRequest {
		t.Errorf("unknown operation: %+v", response)
	}
	other := request(t, configv1alpha1.InterpreterOperationInterpretStatus)
	other.Kind.Kind = "Pod"
	if response := ask(t, other); response.Successful || !strings.Contains(response.Status.Message, "Pod") {
		t.Errorf("unknown kind: %+v", response)
	}
	if recorder := send(bytes.Repeat([]byte(" "), 2<<20)); recorder.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a request that is too large was answered with %d", recorder.Code)
	}
}

// FuzzHandler: whatever comes in, there is an answer and no success without a request.
func FuzzHandler(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","request":{"uid":"u","kind":{"group":"compute.datumapis.com","version":"v1alpha","kind":"WorkloadDeployment"},"operation":"AggregateStatus","object":{"status":7},"aggregatedStatus":[{"status":[]}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		recorder := send(body)
		if recorder.Code != http.StatusOK {
			return
		}
		var answer configv1alpha1.ResourceInterpreterContext
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
			t.Fatalf("the answer to %q is %q", body, recorder.Body)
		}
	})
}
