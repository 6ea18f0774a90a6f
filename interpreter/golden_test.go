// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadarequest "github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/webhook/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/interpreter"
)

// golden is a case of testdata/<operation>/<name>.yaml. In the wanted answer null is the same as missing.
type golden struct {
	Description string                              `json:"description"`
	Object      json.RawMessage                     `json:"object"`
	Observed    json.RawMessage                     `json:"observed,omitempty"`
	Replicas    *int32                              `json:"replicas,omitempty"`
	Items       []workv1alpha2.AggregatedStatusItem `json:"items,omitempty"`
	Want        map[string]json.RawMessage          `json:"want,omitempty"`
	WantError   string                              `json:"wantError,omitempty"`
}

// answer is the answer of an operation, by the names in golden cases.
type answer map[string]any

// leastGoldenFiles lets the test fail when cases are missing.
const leastGoldenFiles = 60

func TestGolden(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*", "*.yaml"))
	if err != nil || len(paths) < leastGoldenFiles {
		t.Fatalf("%d golden cases, %v", len(paths), err)
	}
	for _, path := range paths {
		operation := configv1alpha1.InterpreterOperation(filepath.Base(filepath.Dir(path)))
		t.Run(string(operation)+"/"+strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var c golden
			if err := yaml.UnmarshalStrict(content, &c); err != nil {
				t.Fatal(err)
			}
			if c.Description == "" || len(c.Want) == 0 && c.WantError == "" {
				t.Error("a golden case has a description, and either want or wantError")
			}
			runGolden(t, operation, &c)
		})
	}
}

// runGolden runs one case on the function, on the handler and on the customization.
func runGolden(t *testing.T, operation configv1alpha1.InterpreterOperation, c *golden) {
	t.Helper()
	runGo(t, operation, c)
	got, err := scripted(t, operation, c)
	compare(t, "customization", withoutEmpty(plain(t, got)), err, withoutEmpty(plain(t, c.Want)), c.WantError)
	if err == nil {
		compare(t, "customization", kept(t, operation, got), nil, kept(t, operation, c.Want), "")
	}
}

// runGo runs one case on the function and on the handler.
func runGo(t *testing.T, operation configv1alpha1.InterpreterOperation, c *golden) {
	t.Helper()
	got, err := direct(operation, c)
	compare(t, "function", got, err, normalised(t, c.Want), c.WantError)
	got, err = served(t, operation, c)
	compare(t, "handler", got, err, c.Want, c.WantError)
}

func compare(t testing.TB, by string, got any, err error, want any, wantError string) {
	t.Helper()
	if wantError != "" {
		if err == nil || !strings.Contains(err.Error(), wantError) {
			t.Errorf("%s: error is %v, want %q in it", by, err, wantError)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", by, err)
		return
	}
	is, should := plain(t, got), plain(t, want)
	if !reflect.DeepEqual(is, should) {
		t.Errorf("%s:\n got %s\nwant %s", by, encoded(t, is), encoded(t, should))
	}
}

// direct calls the function of an operation.
func direct(operation configv1alpha1.InterpreterOperation, c *golden) (answer, error) {
	object, observed := &v1alpha.WorkloadDeployment{}, &v1alpha.WorkloadDeployment{}
	if err := utiljson.Unmarshal(c.Object, object); err != nil && operation != configv1alpha1.InterpreterOperationInterpretStatus {
		return nil, err
	}
	switch operation {
	case configv1alpha1.InterpreterOperationInterpretReplica:
		replicas, requirements := interpreter.InterpretReplica(object)
		return answer{"replicas": replicas, "requirements": requirements}, nil
	case configv1alpha1.InterpreterOperationReviseReplica:
		return answer{"object": interpreter.ReviseReplica(object, *c.Replicas)}, nil
	case configv1alpha1.InterpreterOperationRetain:
		err := utiljson.Unmarshal(c.Observed, observed)
		return answer{"object": interpreter.Retain(object, observed)}, err
	case configv1alpha1.InterpreterOperationInterpretStatus:
		observed, err := interpreter.DecodeObserved(c.Object)
		if err != nil {
			return nil, err
		}
		status, err := interpreter.InterpretStatus(observed)
		return answer{"status": status}, err
	case configv1alpha1.InterpreterOperationInterpretHealth:
		return answer{"healthy": interpreter.InterpretHealth(object)}, nil
	case configv1alpha1.InterpreterOperationInterpretDependency:
		dependencies := append([]configv1alpha1.DependentObjectReference{}, interpreter.InterpretDependency(object)...)
		if len(dependencies) > 0 && !templates.HasDependencies(object) {
			// Its policy would not propagate them.
			return nil, fmt.Errorf("the deployment says that it has no dependencies, and has %v", dependencies)
		}
		return answer{"dependencies": dependencies}, nil
	case configv1alpha1.InterpreterOperationAggregateStatus:
		object.Status = *interpreter.AggregateStatus(object, c.Items, metav1.Now())
		return answer{"object": object}, nil
	default:
		return nil, fmt.Errorf("no function for operation %s", operation)
	}
}

// served sends a request to the handler as Karmada does, and applies the patch of the response.
func served(t *testing.T, operation configv1alpha1.InterpreterOperation, c *golden) (answer, error) {
	t.Helper()
	asked := request(t, operation)
	asked.Object.Raw, asked.ObservedObject, asked.AggregatedStatus = c.Object, nil, c.Items
	// Karmada sends a number with every request.
	asked.DesiredReplicas = new(int32(0))
	if c.Replicas != nil {
		asked.DesiredReplicas = c.Replicas
	}
	if c.Observed != nil {
		asked.ObservedObject = &runtime.RawExtension{Raw: c.Observed}
	}
	response := ask(t, asked)
	if _, err := karmadarequest.VerifyResourceInterpreterContext(asked.UID, operation,
		&configv1alpha1.ResourceInterpreterContext{Response: response}); err != nil {
		t.Errorf("Karmada does not take the answer: %v", err)
	}
	if !response.Successful {
		return nil, fmt.Errorf("status %d: %s", response.Status.Code, response.Status.Message)
	}
	switch operation {
	case configv1alpha1.InterpreterOperationInterpretReplica:
		return answer{"replicas": response.Replicas, "requirements": response.ReplicaRequirements}, nil
	case configv1alpha1.InterpreterOperationInterpretStatus:
		return answer{"status": response.RawStatus}, nil
	case configv1alpha1.InterpreterOperationInterpretHealth:
		return answer{"healthy": response.Healthy}, nil
	case configv1alpha1.InterpreterOperationInterpretDependency:
		return answer{"dependencies": append([]configv1alpha1.DependentObjectReference{}, response.Dependencies...)}, nil
	default:
		object := []byte(c.Object)
		if response.Patch != nil {
			object = patched(t, object, response.Patch)
		}
		return answer{"object": json.RawMessage(object)}, nil
	}
}

// normalised is the wanted answer with the object as its type encodes it: a typed function returns every field that is
// never omitted.
func normalised(t *testing.T, want map[string]json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	if want["object"] == nil {
		return want
	}
	object := &v1alpha.WorkloadDeployment{}
	if err := utiljson.Unmarshal(want["object"], object); err != nil {
		t.Fatal(err)
	}
	want = maps.Clone(want)
	want["object"] = encoded(t, object)
	return want
}

func encoded(t testing.TB, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// plain is a value as maps, lists and scalars, without members that are null.
func plain(t testing.TB, value any) any {
	t.Helper()
	var result any
	if err := json.Unmarshal(encoded(t, value), &result); err != nil {
		t.Fatal(err)
	}
	return withoutNull(atStart(result))
}

// started is when the tests started.
var started = time.Now()

// atStart is a value in which conditions that are newer than the tests have the time when the tests started: the two
// implementations do not read one clock.
func atStart(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		stamp, _ := typed["lastTransitionTime"].(string)
		if at, err := time.Parse(time.RFC3339, stamp); err == nil && typed["type"] == v1alpha.ConditionReportValid &&
			!at.Before(started.Truncate(time.Second)) {
			typed["lastTransitionTime"] = started.Format(time.RFC3339)
		}
		for _, member := range typed {
			atStart(member)
		}
	case []any:
		for _, member := range typed {
			atStart(member)
		}
	}
	return value
}

func withoutNull(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key, member := range typed {
			if member == nil {
				delete(typed, key)
			} else {
				withoutNull(member)
			}
		}
	case []any:
		for _, member := range typed {
			withoutNull(member)
		}
	}
	return value
}

// TestGoldenHuge: cases that are too long for files.
func TestGoldenHuge(t *testing.T) {
	for operation, c := range huge(t) {
		t.Run(string(operation), func(t *testing.T) { runGolden(t, operation, c) })
	}
}

// huge are cases of a thousand Instances, or of as many references.
func huge(t *testing.T) map[configv1alpha1.InterpreterOperation]*golden {
	t.Helper()
	const kind = `"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment","metadata":{"name":"web","namespace":"ns","generation":4}`
	var all, even, odd, volumes, dependencies []string
	for i := range 1000 {
		instance := fmt.Sprintf(`{"index":%d,"state":0,"since":"2026-01-01T00:00:00Z"}`, i)
		all = append(all, instance)
		if i%2 == 0 {
			even = append(even, instance)
		} else {
			odd = append(odd, instance)
		}
		volumes = append(volumes, fmt.Sprintf(`{"name":"v%d","secret":{"secretName":"s%03d"}}`, 999-i, 999-i))
		dependencies = append(dependencies, fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","namespace":"ns","name":"s%03d"}`, i))
	}
	report := func(cell string, instances []string) string {
		return fmt.Sprintf(`{"cell":%q,"states":[{"templateHash":"abc","conditions":[{"type":"Ready","status":"True","reason":"Available"}]}],"instances":[%s]}`,
			cell, strings.Join(instances, ","))
	}
	status := func(rest string, replicas int, reports ...string) string {
		return fmt.Sprintf(`{%s"observedGeneration":4,"replicas":%d,"currentReplicas":%d,"desiredReplicas":%d,"readyReplicas":%d,"reports":[%s]}`,
			rest, replicas, replicas, replicas, replicas, strings.Join(reports, ","))
	}
	item := func(cell string, instances []string) workv1alpha2.AggregatedStatusItem {
		raw := status(`"generation":4,"resourceTemplateGeneration":4,`, len(instances), report("", instances))
		return workv1alpha2.AggregatedStatusItem{ClusterName: cell, Status: &runtime.RawExtension{Raw: []byte(raw)}}
	}
	tooMany := append(append([]string{}, all...), `{"index":1000,"state":0}`)
	return map[configv1alpha1.InterpreterOperation]*golden{
		configv1alpha1.InterpreterOperationAggregateStatus: {
			Object: json.RawMessage(`{` + kind + `}`),
			Items:  []workv1alpha2.AggregatedStatusItem{item("b", odd), item("a", even)},
			Want: map[string]json.RawMessage{
				"object": json.RawMessage(`{` + kind + `,"status":` + status("", 1000, report("a", even), report("b", odd)) + `}`),
			},
		},
		configv1alpha1.InterpreterOperationInterpretStatus: {
			Object: json.RawMessage(`{` + kind + `,"status":` + status("", 1001, report("", tooMany)) + `}`),
			Want: map[string]json.RawMessage{
				"status": json.RawMessage(status(`"generation":4,"resourceTemplateGeneration":0,`, 1001, report("", all))),
			},
		},
		configv1alpha1.InterpreterOperationInterpretDependency: {
			Object: json.RawMessage(`{` + kind + `,"spec":{"template":{"spec":{"volumes":[` + strings.Join(volumes, ",") + `]}}}}`),
			Want:   map[string]json.RawMessage{"dependencies": json.RawMessage(`[` + strings.Join(dependencies, ",") + `]`)},
		},
	}
}
