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

// requestsTotal counts what Karmada asks.
var requestsTotal = registered(prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "karmada_compute_interpreter_requests_total",
	Help: "Requests of Karmada's resource interpreter by operation (unknown for one that is not served) and outcome: answered, refused (the request is at fault) or failed.",
}, []string{"operation", "outcome"}))

// registered is the counter as it is registered: a counter that cannot be must not keep Karmada from its answers.
func registered(counter *prometheus.CounterVec) *prometheus.CounterVec {
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(metrics.Registry.Register(counter), &already) {
		if existing, ok := already.ExistingCollector.(*prometheus.CounterVec); ok {
			return existing
		}
	}
	return counter
}

// count takes an answered request into account. Operations that are not served share one label, since anybody may
// make them up.
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
