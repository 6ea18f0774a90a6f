// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"errors"
	"net/http"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	karmadainterpreter "github.com/karmada-io/karmada/pkg/webhook/interpreter"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Outcomes of a request.
const (
	outcomeAnswered = "answered"
	outcomeRefused  = "refused"
	outcomeFailed   = "failed"
)

// requestsTotal counts the requests of Karmada.
var requestsTotal = registered(prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "karmada_compute_interpreter_requests_total",
	Help: "Requests of Karmada's resource interpreter by operation (unknown for unsupported ones) and outcome: answered, refused (the request is invalid) or failed.",
}, []string{"operation", "outcome"}))

// registered registers a counter, or returns the counter that is already registered under its name. A counter that cannot be registered
// still counts: Karmada must be answered.
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
