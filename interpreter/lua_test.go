// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/declarative"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/interpreter/customization"
)

// deploymentKind is what the customization is for.
var deploymentKind = schema.GroupVersionKind{Group: "compute.datumapis.com", Version: "v1alpha", Kind: "WorkloadDeployment"}

// karmada is Karmada's interpreter of customizations, with ours loaded.
var karmada = sync.OnceValues(func() (*declarative.ConfigurableInterpreter, error) {
	var ours configv1alpha1.ResourceInterpreterCustomization
	if err := yaml.UnmarshalStrict(customization.YAML, &ours); err != nil {
		return nil, err
	}
	interpreter := declarative.NewConfigurableInterpreter(nil)
	interpreter.LoadConfig([]*configv1alpha1.ResourceInterpreterCustomization{&ours})
	return interpreter, nil
})

// scripted asks the customization, as Karmada's components do.
func scripted(t testing.TB, operation configv1alpha1.InterpreterOperation, c *golden) (answer, error) {
	t.Helper()
	lua, err := karmada()
	if err != nil {
		t.Fatal(err)
	}
	object, observed := asUnstructured(t, c.Object), asUnstructured(t, c.Observed)
	result, enabled, err := answer{}, true, errors.New("not asked")
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

// kept is what Karmada keeps of an answer: where a script does not change an object but makes one, as for a status, it
// drops what is empty, because Lua does not tell an empty object from an empty list.
func kept(t testing.TB, operation configv1alpha1.InterpreterOperation, value any) any {
	t.Helper()
	switch operation {
	case configv1alpha1.InterpreterOperationInterpretStatus, configv1alpha1.InterpreterOperationAggregateStatus:
		return withoutEmpty(plain(t, value))
	default:
		return value
	}
}

// withoutEmpty is a value without members that are null, or empty objects or lists.
func withoutEmpty(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key, member := range typed {
			if isEmpty(withoutEmpty(member)) {
				delete(typed, key)
			}
		}
	case []any:
		for _, member := range typed {
			withoutEmpty(member)
		}
	}
	return value
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
