// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/interpreter"
)

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
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, interpreter.Path, bytes.NewReader(body))
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
		ObservedObject: &runtime.RawExtension{Raw: raw}, DesiredReplicas: new(int32(3)),
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
	unknown := request(t, "Dance")
	if response := ask(t, unknown); response.Successful || response.Status.Code != http.StatusBadRequest {
		t.Errorf("unknown operation: %+v", response)
	}
	other := request(t, configv1alpha1.InterpreterOperationInterpretStatus)
	other.Kind.Kind = "Pod"
	if response := ask(t, other); response.Successful || !strings.Contains(response.Status.Message, "Pod") {
		t.Errorf("unknown kind: %+v", response)
	}
	if recorder := send(bytes.Repeat([]byte(" "), 9<<20)); recorder.Code != http.StatusRequestEntityTooLarge ||
		!strings.Contains(recorder.Body.String(), "8388608") {
		t.Errorf("a request that is too large was answered with %d: %s", recorder.Code, recorder.Body)
	}
}

// TestAggregateStatusPatch: Karmada gets a patch of the status only, and no patch when nothing changes.
func TestAggregateStatusPatch(t *testing.T) {
	aggregate := request(t, configv1alpha1.InterpreterOperationAggregateStatus)
	aggregate.Object.Raw = []byte(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment",
		"metadata":{"name":"web","generation":4},"spec":{"unknown":{"to":["us",9007199254740993]}}}`)
	cell := from(t, "dfw", 4, 1, 0, 1)
	aggregate.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{cell}
	first := ask(t, aggregate)
	if !first.Successful || first.PatchType == nil || *first.PatchType != configv1alpha1.PatchTypeJSONPatch {
		t.Fatalf("response %+v", first)
	}
	aggregate.Object.Raw = patched(t, aggregate.Object.Raw, first.Patch)
	var got v1alpha.WorkloadDeployment
	if err := json.Unmarshal(aggregate.Object.Raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Status.ObservedGeneration != 4 || len(wire.Instances(&got)) != 2 ||
		!bytes.Contains(aggregate.Object.Raw, []byte("9007199254740993")) {
		t.Errorf("patched to %s", aggregate.Object.Raw)
	}
	if again := ask(t, aggregate); !again.Successful || again.Patch != nil || again.PatchType != nil {
		t.Errorf("a settled deployment is patched with %s", again.Patch)
	}
	aggregate.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 4, 1, 1)}
	aggregate.Object.Raw = patched(t, aggregate.Object.Raw, ask(t, aggregate).Patch)
	if !bytes.Contains(aggregate.Object.Raw, []byte(`"existing":"1"`)) {
		t.Errorf("an Instance that is gone is still in %s", aggregate.Object.Raw)
	}
}

// TestAggregateGarbage: the condition about garbage is written once.
func TestAggregateGarbage(t *testing.T) {
	aggregate := request(t, configv1alpha1.InterpreterOperationAggregateStatus)
	aggregate.Object.Raw = []byte(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment","metadata":{"name":"web","generation":4}}`)
	aggregate.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{from(t, "dfw", 4, 1, 1)}
	aggregate.AggregatedStatus[0].Status.Raw = []byte(`7`)
	garbage := ask(t, aggregate)
	if !garbage.Successful || !bytes.Contains(garbage.Patch, []byte("cell dfw: ")) {
		t.Errorf("garbage: %+v, patch %s", garbage.Status, garbage.Patch)
	}
	// The condition keeps its time.
	aggregate.Object.Raw = patched(t, aggregate.Object.Raw, garbage.Patch)
	if again := ask(t, aggregate); !again.Successful || again.Patch != nil {
		t.Errorf("the same garbage is patched with %s", again.Patch)
	}
}

func patched(t testing.TB, object, patch []byte) []byte {
	t.Helper()
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatal(err)
	}
	result, err := decoded.Apply(object)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestRegistration checks that the webhook is registered for the operations that the handler supports.
func TestRegistration(t *testing.T) {
	for _, operation := range registeredOperations(t) {
		if response := ask(t, request(t, operation)); !response.Successful {
			t.Errorf("%s is registered and not served: %+v", operation, response.Status)
		}
	}
}

// registeredOperations are the operations that the webhook is registered for, at the path of the handler.
func registeredOperations(t *testing.T) []configv1alpha1.InterpreterOperation {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "policies", "interpreter.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var configuration configv1alpha1.ResourceInterpreterWebhookConfiguration
	if err := yaml.UnmarshalStrict(content, &configuration); err != nil {
		t.Fatal(err)
	}
	if path := configuration.Webhooks[0].ClientConfig.Service.Path; path == nil || *path != interpreter.Path {
		t.Errorf("path is %v", path)
	}
	return configuration.Webhooks[0].Rules[0].Operations
}

// FuzzHandler checks that every request has a response, in memory that its length bounds, and success only for
// supported operations.
func FuzzHandler(f *testing.F) {
	f.Add([]byte(`{}`))
	for _, rest := range []string{
		`"operation":"AggregateStatus","object":{"status":7},"aggregatedStatus":[{"status":[]}]`,
		`"operation":"AggregateStatus","object":{"metadata":{"name":"web"}},"aggregatedStatus":[{"clusterName":"a","status":{"indices":[{"existing":"0"}],"conditions":[{"type":"Available","status":"False"}]}},{"clusterName":"b","status":null}]`,
		`"operation":"InterpretStatus","object":{"metadata":{"annotations":{"resourcetemplate.karmada.io/generation":"1"}},"status":{"reports":[{"states":[{"conditions":[{"message":"x"}]}]}]}}`,
		`"operation":"InterpretHealth","object":{"status":{"desiredReplicas":1,"readyReplicas":1}}`,
		`"operation":"InterpretReplica","object":{"spec":{"replicas":2,"instanceTypeResources":{"cpu":"2","memory":"1Gi"},"template":{"spec":{"runtime":{"resources":{"instanceType":"datumcloud/d1-standard-2","requests":{"cpu":"0.5"}},"sandbox":{"containers":[{"resources":{"limits":{"cpu":1},"requests":{"memory":"1e3"}}},{}]}}}}}}`,
		`"operation":"ReviseReplica","replicas":3,"object":{"spec":null}`,
		`"operation":"ReviseReplica","replicas":-1,"object":{"spec":{"replicas":1}}`,
		`"operation":"Retain","object":{"spec":{"scaleSettings":{"minReplicas":1,"maxReplicas":3,"metrics":[{"resource":{"name":"cpu"}}]}}},"observedObject":{"spec":{"replicas":9}}`,
		`"operation":"Retain","object":{},"observedObject":null`,
		`"operation":"InterpretDependency","object":{"spec":{"template":{"spec":{"runtime":{"sandbox":{"imagePullSecrets":[{"name":"p"}],"containers":[{"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s"}}},{"name":"B","valueFrom":{}}]}]}},"volumes":[{"configMap":{"name":"c"}},{"secret":{}}]}}}}`,
	} {
		f.Add([]byte(`{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","request":{"uid":"u","kind":{"group":"compute.datumapis.com","version":"v1alpha","kind":"WorkloadDeployment"},` + rest + `}}`))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		recorder := send(body)
		goruntime.ReadMemStats(&after)
		// Cells wrote a part of it.
		const perByte, constant = 1024, 4 << 20
		if used, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(body)+constant); used > most {
			t.Fatalf("%d bytes allocate %d bytes, more than %d", len(body), used, most)
		}
		if recorder.Code != http.StatusOK {
			return
		}
		var answer, asked configv1alpha1.ResourceInterpreterContext
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
			t.Fatalf("the answer to %q is %q", body, recorder.Body)
		}
		if !answer.Response.Successful {
			return
		}
		if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil || asked.Request.Kind.Kind != "WorkloadDeployment" {
			t.Errorf("success for %q", body)
		}
	})
}

// TestHandlerReadsLargeRequests: a request about a deployment with a thousand Instances is larger than Karmada's own
// library reads.
func TestHandlerReadsLargeRequests(t *testing.T) {
	var indices []int
	for i := range 1000 {
		indices = append(indices, i)
	}
	item := from(t, "dfw", 4, 1000, indices...)
	padded := bytes.ReplaceAll(item.Status.Raw, []byte(`{"index":`), []byte(`{"padding":"`+strings.Repeat("x", 1500)+`","index":`))
	item.Status = &runtime.RawExtension{Raw: padded}
	aggregate := request(t, configv1alpha1.InterpreterOperationAggregateStatus)
	aggregate.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{item}
	if response := ask(t, aggregate); !response.Successful || !bytes.Contains(response.Patch, []byte(`"index":999`)) {
		t.Errorf("%d bytes were answered with %+v", len(padded), response.Status)
	}
}
