// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	karmadainterpreter "github.com/karmada-io/karmada/pkg/webhook/interpreter"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Path is where the handler is served; policies/interpreter.yaml names it too.
const Path = "/interpret-workloaddeployment"

// maxBody is the largest request that is read, in bytes. A request to aggregate carries the object with its status
// and that status once more per cell, and an object may have 1.5 MiB in etcd.
const maxBody = 8 << 20

// NewHandler answers Karmada's ResourceInterpreter requests. It is safe for concurrent use.
//
// Requests and responses are those of Karmada's library. They are read here and not by it, because it cuts requests off
// at 1 MiB, which one about a deployment with 600 Instances passes, and calls the rest malformed.
func NewHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			http.Error(w, fmt.Sprintf("the request is larger than %d bytes: the deployment has more Instances than one object can report", tooLarge.Limit), http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "the request cannot be read", http.StatusBadRequest)
			return
		}
		var response karmadainterpreter.Response
		if request, err := decodeRequest(r.Header.Get("Content-Type"), body); err != nil {
			response = karmadainterpreter.Errored(http.StatusBadRequest, err)
		} else {
			response = handle(request)
			response.Complete(*request)
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(configv1alpha1.ResourceInterpreterContext{Response: &response.ResourceInterpreterResponse}); err != nil {
			klog.FromContext(r.Context()).Error(err, "Answer to Karmada could not be sent")
		}
	})
}

func decodeRequest(contentType string, body []byte) (*karmadainterpreter.Request, error) {
	if contentType != "application/json" {
		return nil, fmt.Errorf("content type is %q, not application/json", contentType)
	}
	var question configv1alpha1.ResourceInterpreterContext
	if err := utiljson.Unmarshal(body, &question); err != nil {
		return nil, fmt.Errorf("decode the request: %w", err)
	}
	expected := schema.FromAPIVersionAndKind(configv1alpha1.GroupVersion.String(), "ResourceInterpreterContext")
	if question.GroupVersionKind() != expected || question.Request == nil {
		return nil, fmt.Errorf("%s with a request is expected, not %q", expected, question.GroupVersionKind())
	}
	return &karmadainterpreter.Request{ResourceInterpreterRequest: *question.Request}, nil
}

// handle answers one request.
func handle(request *karmadainterpreter.Request) karmadainterpreter.Response {
	if request.Kind.Group != v1alpha.GroupVersion.Group || request.Kind.Kind != "WorkloadDeployment" {
		return karmadainterpreter.Errored(http.StatusBadRequest, fmt.Errorf("kind %s of group %q is not interpreted here", request.Kind.Kind, request.Kind.Group))
	}
	object := &v1alpha.WorkloadDeployment{}
	if err := utiljson.Unmarshal(request.Object.Raw, object); err != nil {
		return karmadainterpreter.Errored(http.StatusBadRequest, fmt.Errorf("decode the WorkloadDeployment: %w", err))
	}
	switch request.Operation {
	case configv1alpha1.InterpreterOperationInterpretStatus:
		return interpretStatus(object)
	case configv1alpha1.InterpreterOperationInterpretHealth:
		response := karmadainterpreter.Succeeded("")
		response.Healthy = new(InterpretHealth(object))
		return response
	case configv1alpha1.InterpreterOperationAggregateStatus:
		return aggregateStatus(object, request)
	default:
		return karmadainterpreter.Errored(http.StatusBadRequest, fmt.Errorf("operation %q is not interpreted here", request.Operation))
	}
}

func interpretStatus(object *v1alpha.WorkloadDeployment) karmadainterpreter.Response {
	reflected, err := InterpretStatus(object)
	if err != nil {
		return karmadainterpreter.Errored(http.StatusBadRequest, err)
	}
	raw, err := json.Marshal(reflected)
	if err != nil {
		return karmadainterpreter.Errored(http.StatusInternalServerError, fmt.Errorf("encode the status: %w", err))
	}
	response := karmadainterpreter.Succeeded("")
	response.RawStatus = &runtime.RawExtension{Raw: raw}
	return response
}

func aggregateStatus(object *v1alpha.WorkloadDeployment, request *karmadainterpreter.Request) karmadainterpreter.Response {
	status, err := AggregateStatus(object, request.AggregatedStatus)
	if err != nil {
		return karmadainterpreter.Errored(http.StatusBadRequest, err)
	}
	return patchStatus(request.Object.Raw, status)
}

// patchStatus replaces the status alone, so that all else stays as it came, known to us or not. A status that says
// the same is not touched: Karmada then writes nothing.
func patchStatus(object []byte, status *v1alpha.WorkloadDeploymentStatus) karmadainterpreter.Response {
	var before struct {
		Status any `json:"status"`
	}
	var after any
	wanted, err := json.Marshal(status)
	if err == nil {
		err = errors.Join(json.Unmarshal(object, &before), json.Unmarshal(wanted, &after))
	}
	if err != nil {
		return karmadainterpreter.Errored(http.StatusInternalServerError, fmt.Errorf("compare the status: %w", err))
	}
	if reflect.DeepEqual(before.Status, after) {
		return karmadainterpreter.Succeeded("")
	}
	// "add" replaces a member that is there.
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/status", "value": after}})
	if err != nil {
		return karmadainterpreter.Errored(http.StatusInternalServerError, fmt.Errorf("encode the status: %w", err))
	}
	response := karmadainterpreter.Succeeded("")
	response.Patch, response.PatchType = patch, new(configv1alpha1.PatchTypeJSONPatch)
	return response
}
