// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package host

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
	// reserve is what is kept of the caller's patience to send the answer: an answer that comes too late is replaced by
	// a timeout that tells the user nothing.
	reserve = 500 * time.Millisecond
	// maxPatience is how long a request may take whose caller does not say how long it waits, or waits longer: API
	// servers wait 30 s at most.
	maxPatience = 30 * time.Second
	// maxBody is the largest request that is read, in bytes. It is more than an API server sends: an object may have
	// 1.5 MiB in etcd, and an update carries two.
	maxBody = 8 << 20
)

// outcome is how a request ended.
type outcome string

const (
	allowed outcome = "allowed"
	denied  outcome = "denied"
	// failed is no refusal: the user may try again.
	failed outcome = "error"
	// failedElsewhere is failed, for a reason that lies in one project: this replica is no worse than others.
	failedElsewhere outcome = "elsewhere"
	// unauthorized callers reach no handler.
	unauthorized outcome = "unauthorized"
)

// outcomeOfStatus reads an HTTP status. 504 says that something behind one project did not answer.
func outcomeOfStatus(code int) outcome {
	switch {
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

// noteOutcome tells what the HTTP status does not: an AdmissionReview that refuses is answered with 200.
func noteOutcome(ctx context.Context, o outcome) {
	if noted, ok := ctx.Value(outcomeKey{}).(*atomic.Value); ok {
		noted.Store(o)
	}
}

// chain is what every request to a webhook goes through.
type chain struct {
	name    string
	next    http.Handler
	metrics *metrics
	window  *window
	log     logr.Logger
}

// ServeHTTP bounds the request in time and size, survives a panic of the handler, and counts.
func (c *chain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	noted := &atomic.Value{}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), outcomeKey{}, noted), patienceOf(r))
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
		c.window.record(ended)
	}()
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(status, r.Body, maxBody)
	c.next.ServeHTTP(status, r)
}

// patienceOf is how long a request may take.
func patienceOf(r *http.Request) time.Duration {
	waits, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || waits <= 0 || waits > maxPatience {
		return maxPatience
	}
	// Of a very short wait one half is kept, so that there is time to ask anything at all.
	return max(waits-reserve, waits/2)
}

// statusRecorder remembers the status of an answer.
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

// metrics are what the host counts.
type metrics struct {
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	ready    prometheus.Gauge
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_webhook_requests_total",
			Help: "Requests to webhooks, by outcome: allowed, denied, error (ours), elsewhere (a project's control plane did not answer), unauthorized (the caller may not call).",
		}, []string{"webhook", "outcome"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "karmada_compute_webhook_request_duration_seconds",
			Help:    "How long requests to webhooks took.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"webhook"}),
		ready: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "karmada_compute_ready",
			Help: "1 while this replica is ready to serve, else 0.",
		}),
	}
	for _, collector := range []prometheus.Collector{m.requests, m.latency, m.ready} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("register the metrics of webhooks: %w", err)
		}
	}
	return m, nil
}

// announce has the series of a webhook there before its first request.
func (m *metrics) announce(webhook string) {
	for _, ended := range []outcome{allowed, denied, failed, failedElsewhere, unauthorized} {
		m.requests.WithLabelValues(webhook, string(ended))
	}
	m.latency.WithLabelValues(webhook)
}

func (m *metrics) observe(webhook string, ended outcome, took time.Duration) {
	m.requests.WithLabelValues(webhook, string(ended)).Inc()
	m.latency.WithLabelValues(webhook).Observe(took.Seconds())
}
