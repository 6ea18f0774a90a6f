// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	karmadainterpreter "github.com/karmada-io/karmada/pkg/webhook/interpreter"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Answers that change an object are patches of the one field, so that all else stays as it came, known to us or not.
// Without a difference there is no patch: Karmada then writes nothing.

// change is one operation of a JSON patch. "add" replaces a member that is there.
type change struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// patch answers with these changes.
func patch(changes ...change) karmadainterpreter.Response {
	response := karmadainterpreter.Succeeded("")
	if len(changes) == 0 {
		return response
	}
	encoded, err := json.Marshal(changes)
	if err != nil {
		return failed(fmt.Errorf("encode the patch: %w", err))
	}
	response.Patch, response.PatchType = encoded, new(configv1alpha1.PatchTypeJSONPatch)
	return response
}

// patchReplicas takes over spec.replicas alone.
func patchReplicas(object []byte, before, after *v1alpha.WorkloadDeployment) karmadainterpreter.Response {
	wanted := after.Spec.Replicas
	if wanted == nil || before.Spec.Replicas != nil && *before.Spec.Replicas == *wanted {
		return patch()
	}
	var has struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := utiljson.Unmarshal(object, &has); err != nil {
		return failed(fmt.Errorf("look for the spec: %w", err))
	}
	if has.Spec == nil {
		return patch(change{Op: "add", Path: "/spec", Value: map[string]int32{"replicas": *wanted}})
	}
	return patch(change{Op: "add", Path: "/spec/replicas", Value: *wanted})
}

// patchAnnotations takes away the annotations that are gone.
func patchAnnotations(before, after *v1alpha.WorkloadDeployment) karmadainterpreter.Response {
	var changes []change
	for _, key := range hubOnly {
		_, was := before.Annotations[key]
		if _, is := after.Annotations[key]; was && !is {
			changes = append(changes, change{Op: "remove", Path: "/metadata/annotations/" + strings.ReplaceAll(key, "/", "~1")})
		}
	}
	return patch(changes...)
}

// patchStatus takes over the status alone.
func patchStatus(object []byte, status *v1alpha.WorkloadDeploymentStatus) karmadainterpreter.Response {
	var before struct {
		Status any `json:"status"`
	}
	var after any
	wanted, err := json.Marshal(status)
	if err == nil {
		err = errors.Join(utiljson.Unmarshal(object, &before), utiljson.Unmarshal(wanted, &after))
	}
	if err != nil {
		return failed(fmt.Errorf("compare the status: %w", err))
	}
	if reflect.DeepEqual(before.Status, after) {
		return patch()
	}
	return patch(change{Op: "add", Path: "/status", Value: after})
}
