// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// reserve is the part of the caller's timeout that is reserved for sending the answer: after the timeout, the user
	// would see an error without a reason.
	reserve = 500 * time.Millisecond
	// maxTimeout bounds a request whose caller gives no timeout or a longer one: API servers wait 30 s at most.
	maxTimeout = 30 * time.Second
	// maxBody bounds the body of a request, in bytes. API servers send less: an object has at most 1.5 MiB in etcd, and an
	// update carries two.
	maxBody = 8 << 20
)

// outcome is the result of a request.
type outcome string

const (
	allowed outcome = "allowed"
	denied  outcome = "denied"
	// failed is an error and not a denial, caused by this replica.
	failed outcome = "error"
	// unavailable is an error because Milo answers no replica, or because it lacks a kind.
	unavailable outcome = "unavailable"
	// failedElsewhere is an error because the control plane of one project does not answer.
	failedElsewhere outcome = "elsewhere"
	// unauthorized callers reach no handler.
	unauthorized outcome = "unauthorized"
)

// outcomeOfStatus maps an HTTP status: 503 means that Milo does not answer, 501 that it does not serve a kind, 504 that
// one project does not answer.
func outcomeOfStatus(code int) outcome {
	switch {
	case code == http.StatusServiceUnavailable, code == http.StatusNotImplemented:
		return unavailable
	case code == http.StatusGatewayTimeout:
		return failedElsewhere
	case code >= http.StatusInternalServerError:
		return failed
	case code >= http.StatusBadRequest:
		return denied
	default:
		return allowed
	}
}

type outcomeKey struct{}

// noteOutcome records the outcome of an AdmissionReview, whose HTTP status is 200 even if it denies.
func noteOutcome(ctx context.Context, o outcome) {
	if noted, ok := ctx.Value(outcomeKey{}).(*atomic.Value); ok {
		noted.Store(o)
	}
}

// chain wraps the handler of a webhook.
type chain struct {
	name    string
	next    http.Handler
	metrics *metrics
	// record records how a request ended, for readiness.
	record func(outcome)
	log    logr.Logger
}

// ServeHTTP bounds the request in time and size, recovers from a panic of the handler, and records the outcome.
func (c *chain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	noted := &atomic.Value{}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), outcomeKey{}, noted), timeoutOf(r))
	defer cancel()
	status := &statusRecorder{ResponseWriter: w, code: http.StatusOK}
	defer func() {
		problem := recover()
		if problem != nil {
			c.log.Error(fmt.Errorf("panic: %v", problem), "A handler failed; report this", "webhook", c.name, "stack", string(debug.Stack()))
			noted.Store(failed)
			if !status.written {
				http.Error(status, "the webhook failed; its log says why", http.StatusInternalServerError)
			}
		}
		ended, ok := noted.Load().(outcome)
		if !ok {
			ended = outcomeOfStatus(status.code)
		}
		c.metrics.observe(c.name, ended, time.Since(start))
		c.record(ended)
	}()
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(status, r.Body, maxBody)
	c.next.ServeHTTP(status, r)
}

// timeoutOf is how long the handler of a request may take.
func timeoutOf(r *http.Request) time.Duration {
	given, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || given <= 0 || given > maxTimeout {
		return maxTimeout
	}
	// Of a very short timeout the handler gets one half.
	return max(given-reserve, given/2)
}

// statusRecorder records the status of a response.
type statusRecorder struct {
	http.ResponseWriter
	code    int
	written bool
}

// WriteHeader sends the status.
func (s *statusRecorder) WriteHeader(code int) {
	s.code, s.written = code, true
	s.ResponseWriter.WriteHeader(code)
}

// Write sends a part of the body.
func (s *statusRecorder) Write(p []byte) (int, error) {
	s.written = true
	return s.ResponseWriter.Write(p)
}

// metrics are the metrics of a Server.
type metrics struct {
	requests  *prometheus.CounterVec
	latency   *prometheus.HistogramVec
	ready     prometheus.Gauge
	reachable prometheus.Gauge
}

// newMetrics registers the metrics. A Server without webhooks probes nothing, so it has no metric of Milo.
func newMetrics(registerer prometheus.Registerer, serves bool) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_webhook_requests_total",
			Help: "Requests to webhooks, by outcome: allowed, denied, error (of this replica), unavailable (a lookup of projects " +
				"was not answered, or a kind is not served), elsewhere (a project's API server did not answer), unauthorized (the " +
				"caller may not call).",
		}, []string{"webhook", "outcome"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "karmada_compute_webhook_request_duration_seconds",
			Help:    "Duration of requests to webhooks.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"webhook"}),
		ready: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "karmada_compute_ready",
			Help: "1 while this replica is ready to serve, else 0.",
		}),
		reachable: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "karmada_compute_milo_reachable",
			Help: "1 while lookups of projects succeed, at Milo's root or, with --projects=namespaces, at the hub, else 0. Probed " +
				"every 10 s, and every second while they fail.",
		}),
	}
	registerer.MustRegister(m.requests, m.latency, m.ready)
	if serves {
		registerer.MustRegister(m.reachable)
	}
	return m
}

// announce creates the series of a webhook before its first request.
func (m *metrics) announce(webhook string) {
	for _, ended := range []outcome{allowed, denied, failed, unavailable, failedElsewhere, unauthorized} {
		m.requests.WithLabelValues(webhook, string(ended))
	}
	m.latency.WithLabelValues(webhook)
}

func (m *metrics) observe(webhook string, ended outcome, took time.Duration) {
	m.requests.WithLabelValues(webhook, string(ended)).Inc()
	m.latency.WithLabelValues(webhook).Observe(took.Seconds())
}
