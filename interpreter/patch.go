// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	karmadainterpreter "github.com/karmada-io/karmada/pkg/webhook/interpreter"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Answers that change an object are patches of one field: all other fields stay unchanged, including fields that this
// version does not know. Without a difference there is no patch, and Karmada writes nothing.

// change is one operation of a JSON patch. "add" replaces an existing member.
type change struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// patch is the response with these changes.
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

// patchReplicas is the response that sets spec.replicas as in after.
func patchReplicas(object []byte, before, after *v1alpha.WorkloadDeployment) karmadainterpreter.Response {
	wanted := after.Spec.Replicas
	if wanted == nil || before.Spec.Replicas != nil && *before.Spec.Replicas == *wanted {
		return patch()
	}
	var present struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := utiljson.Unmarshal(object, &present); err != nil {
		return failed(fmt.Errorf("decode the spec: %w", err))
	}
	if present.Spec == nil {
		return patch(change{Op: "add", Path: "/spec", Value: map[string]int32{"replicas": *wanted}})
	}
	return patch(change{Op: "add", Path: "/spec/replicas", Value: *wanted})
}

// patchStatus is the response that sets the status.
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
	none := before.Status == nil && reflect.DeepEqual(*status, v1alpha.WorkloadDeploymentStatus{})
	if none || reflect.DeepEqual(before.Status, after) {
		return patch()
	}
	return patch(change{Op: "add", Path: "/status", Value: after})
}
