// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/declarative"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/interpreter/customization"
)

// deploymentKind is the kind that the customization interprets.
var deploymentKind = schema.GroupVersionKind{Group: "compute.datumapis.com", Version: "v1alpha", Kind: "WorkloadDeployment"}

// karmada is Karmada's interpreter of customizations with ours.
var karmada = sync.OnceValues(func() (*declarative.ConfigurableInterpreter, error) {
	var ours configv1alpha1.ResourceInterpreterCustomization
	if err := yaml.UnmarshalStrict(customization.YAML, &ours); err != nil {
		return nil, err
	}
	lua := declarative.NewConfigurableInterpreter(nil)
	lua.LoadConfig([]*configv1alpha1.ResourceInterpreterCustomization{&ours})
	return lua, nil
})

// scripted runs the customization as Karmada's components do.
func scripted(t testing.TB, operation configv1alpha1.InterpreterOperation, c *golden) (answer, error) {
	t.Helper()
	lua, err := karmada()
	if err != nil {
		t.Fatal(err)
	}
	object, observed := asUnstructured(t, c.Object), asUnstructured(t, c.Observed)
	result, err := run(lua, operation, object, observed, c)
	// Karmada ends a script after one second of wall-clock time, which a large case may take on a busy machine.
	for range 20 {
		if err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
			break
		}
		result, err = run(lua, operation, object, observed, c)
	}
	return result, err
}

// run runs the script of an operation.
func run(
	lua *declarative.ConfigurableInterpreter, operation configv1alpha1.InterpreterOperation,
	object, observed *unstructured.Unstructured, c *golden,
) (answer, error) {
	result, enabled, err := answer{}, true, errors.New("not run")
	switch operation {
	case configv1alpha1.InterpreterOperationInterpretReplica:
		result["replicas"], result["requirements"], enabled, err = lua.GetReplicas(object)
	case configv1alpha1.InterpreterOperationReviseReplica:
		result["object"], enabled, err = lua.ReviseReplica(object, int64(*c.Replicas))
	case configv1alpha1.InterpreterOperationRetain:
		result["object"], enabled, err = lua.Retain(object, observed)
	case configv1alpha1.InterpreterOperationInterpretStatus:
		result["status"], enabled, err = lua.ReflectStatus(object)
	case configv1alpha1.InterpreterOperationInterpretHealth:
		result["healthy"], enabled, err = lua.InterpretHealth(object)
	case configv1alpha1.InterpreterOperationInterpretDependency:
		result["dependencies"], enabled, err = lua.GetDependencies(object)
	case configv1alpha1.InterpreterOperationAggregateStatus:
		result["object"], enabled, err = lua.AggregateStatus(object, c.Items)
	default:
		enabled = false
	}
	if !enabled {
		return nil, fmt.Errorf("the customization has no script for operation %s", operation)
	}
	return result, err
}

// asUnstructured is an object as Karmada has it. Karmada finds the customization by its kind.
func asUnstructured(t testing.TB, raw json.RawMessage) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{}}
	if raw != nil {
		if err := utiljson.Unmarshal(raw, &object.Object); err != nil {
			t.Fatal(err)
		}
	}
	object.SetGroupVersionKind(deploymentKind)
	return object
}

// kept is an answer in a form that can be compared. If a script returns a new object, such as a status, Karmada drops
// empty members, because Lua does not distinguish an empty object from an empty list: the status is compared as its
// type decodes it. Of an aggregated object, Karmada writes only the status. Quantities are compared in their canonical
// form.
func kept(t testing.TB, operation configv1alpha1.InterpreterOperation, value any) any {
	t.Helper()
	members, _ := plain(t, value).(map[string]any)
	switch operation {
	case configv1alpha1.InterpreterOperationInterpretStatus:
		return answer{"typed": typed(t, members["status"], &wire.ReflectedStatus{}), "raw": withoutEmpty(members)}
	case configv1alpha1.InterpreterOperationAggregateStatus:
		object, _ := members["object"].(map[string]any)
		status := typed(t, object["status"], &v1alpha.WorkloadDeploymentStatus{})
		return answer{"typed": status, "raw": withoutEmpty(map[string]any{"status": object["status"], "metadata": object["metadata"]})}
	case configv1alpha1.InterpreterOperationInterpretReplica:
		requirements := &workv1alpha2.ReplicaRequirements{}
		typed(t, members["requirements"], requirements)
		for name, quantity := range requirements.ResourceRequest {
			// Changing a quantity drops its original text.
			quantity.Add(resource.Quantity{})
			requirements.ResourceRequest[name] = quantity
		}
		return answer{"replicas": members["replicas"], "requirements": requirements, "known": members["requirements"] != nil}
	default:
		return members
	}
}

// typed is a value decoded by its type, which must have all its members.
func typed(t testing.TB, value, into any) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(encoded(t, value)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Errorf("%v: %v", value, err)
	}
	return into
}

// withoutEmpty is a value without nulls and empty objects and lists.
func withoutEmpty(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key := range typed {
			typed[key] = withoutEmpty(typed[key])
		}
		maps.DeleteFunc(typed, func(_ string, member any) bool { return isEmpty(member) })
		return typed
	case []any:
		for i := range typed {
			typed[i] = withoutEmpty(typed[i])
		}
		return slices.DeleteFunc(typed, isEmpty)
	default:
		return value
	}
}

func isEmpty(value any) bool {
	switch typed := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(typed) == 0
	case []any:
		return len(typed) == 0
	default:
		return false
	}
}
