// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	karmadainterpreter "github.com/karmada-io/karmada/pkg/webhook/interpreter"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Path is the URL path of the handler. policies/interpreter.yaml has it as well.
const Path = "/interpret-workloaddeployment"

// maxBody is the largest request, in bytes. One to aggregate a status holds the object with its status and the status
// of every cell, and an object may take 1.5 MiB in etcd.
const maxBody = 8 << 20

// NewHandler returns the handler of Karmada's ResourceInterpreter requests. It is safe for concurrent use.
//
// Requests and responses are of the types of Karmada's library. The library does not read them, because it truncates
// requests at 1 MiB, which a deployment with 600 Instances exceeds, and then calls them malformed.
func NewHandler() http.Handler {
	return http.HandlerFunc(serve)
}

func serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuseBody(w, err)
		return
	}
	var response karmadainterpreter.Response
	var operation configv1alpha1.InterpreterOperation
	if request, err := decodeRequest(r.Header.Get("Content-Type"), body); err != nil {
		response = refused(err)
	} else {
		operation = request.Operation
		response = handle(request)
		response.Complete(*request)
	}
	count(operation, &response)
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(configv1alpha1.ResourceInterpreterContext{
		Response: &response.ResourceInterpreterResponse,
	}); err != nil {
		klog.FromContext(r.Context()).Error(err, "Cannot send the response to Karmada")
	}
}

// refuseBody responds to a request that cannot be read to its end.
func refuseBody(w http.ResponseWriter, err error) {
	response := refused(err)
	count("", &response)
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		http.Error(w, fmt.Sprintf("the request is larger than %d bytes: the deployment has more Instances than one object can report",
			tooLarge.Limit), http.StatusRequestEntityTooLarge)
		return
	}
	http.Error(w, "the request cannot be read", http.StatusBadRequest)
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

// handle responds to one request.
func handle(request *karmadainterpreter.Request) karmadainterpreter.Response {
	if request.Kind.Group != v1alpha.GroupVersion.Group || request.Kind.Kind != "WorkloadDeployment" {
		return refused(fmt.Errorf("kind %s of group %q is not interpreted here", request.Kind.Kind, request.Kind.Group))
	}
	answer, served := answers[request.Operation]
	if !served {
		return refused(fmt.Errorf("operation %q is not interpreted here", request.Operation))
	}
	read := wire.WorkloadDeployment
	if request.Operation == configv1alpha1.InterpreterOperationInterpretStatus {
		read = DecodeObserved
	}
	object, err := read(request.Object.Raw)
	if err != nil {
		return refused(fmt.Errorf("decode the WorkloadDeployment: %w", err))
	}
	return answer(object, request)
}

// refused is the response to an invalid request.
func refused(err error) karmadainterpreter.Response {
	return karmadainterpreter.Errored(http.StatusBadRequest, err)
}

// failed is the response to a valid request that cannot be answered.
func failed(err error) karmadainterpreter.Response {
	return karmadainterpreter.Errored(http.StatusInternalServerError, err)
}

// Outcomes of a request.
const (
	outcomeAnswered = "answered"
	outcomeRefused  = "refused"
	outcomeFailed   = "failed"
)

// requestsTotal counts the requests of Karmada.
var requestsTotal = registered(prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "karmada_compute_interpreter_requests_total",
	Help: "Requests of Karmada's resource interpreter by operation (unknown for unsupported ones) and outcome: answered, " +
		"refused (the request is invalid) or failed.",
}, []string{"operation", "outcome"}))

// registered registers a counter, or returns the counter that is already registered under its name. A counter that
// cannot be registered still counts: Karmada must be answered.
func registered(counter *prometheus.CounterVec) *prometheus.CounterVec {
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(metrics.Registry.Register(counter), &already) {
		if existing, ok := already.ExistingCollector.(*prometheus.CounterVec); ok {
			return existing
		}
	}
	return counter
}

// count counts a request with its response. Unsupported operations share one label value, since a caller may invent any
// number of them.
func count(operation configv1alpha1.InterpreterOperation, response *karmadainterpreter.Response) {
	outcome := outcomeAnswered
	switch {
	case response.Successful:
	case response.Status != nil && response.Status.Code >= http.StatusInternalServerError:
		outcome = outcomeFailed
	default:
		outcome = outcomeRefused
	}
	requestsTotal.WithLabelValues(label(operation), outcome).Inc()
}

func label(operation configv1alpha1.InterpreterOperation) string {
	if _, served := answers[operation]; !served {
		return "unknown"
	}
	return string(operation)
}
