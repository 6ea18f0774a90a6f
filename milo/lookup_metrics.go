// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// What is asked of Milo, the label "kind" of the metrics.
const (
	kindProject   = "project"
	kindLocations = "locations"
	kindReview    = "review"
	kindAllowance = "allowance"
	// kindProbe is seen in the durations only: a probe is not a lookup.
	kindProbe = "probe"
)

// How a lookup ended, the label "outcome".
const (
	// outcomeHit: the cache knew the answer and it was new enough.
	outcomeHit = "hit"
	// outcomeMiss: Milo was asked and answered, found or not found. Everybody who waited for that answer counts.
	outcomeMiss = "miss"
	// outcomeStale: Milo gave no answer in time, so an older one was served.
	outcomeStale = "stale"
	// outcomeError: there was no answer.
	outcomeError = "error"
)

// lookupMetrics count what is looked up and how long Milo takes for it.
type lookupMetrics struct {
	lookups   *prometheus.CounterVec
	durations *prometheus.HistogramVec
}

// newLookupMetrics registers the metrics, unless registerer is nil. A second Lookup in the process counts into the
// metrics of the first.
func newLookupMetrics(registerer prometheus.Registerer) (*lookupMetrics, error) {
	m := &lookupMetrics{
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_milo_lookups_total",
			Help: "Lookups of Milo's projects, by kind and by whether the cache (hit), Milo (miss), the cache for want of an answer (stale) or nobody (error) answered.",
		}, []string{"kind", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "karmada_compute_milo_request_duration_seconds",
			Help:    "How long requests to Milo took until they were answered or given up, by kind.",
			Buckets: prometheus.DefBuckets,
		}, []string{"kind"}),
	}
	if registerer != nil {
		var err error
		if m.lookups, err = registered(registerer, m.lookups); err != nil {
			return nil, err
		}
		if m.durations, err = registered(registerer, m.durations); err != nil {
			return nil, err
		}
	}
	// A series that begins at 0 shows its first error in a rate; one that appears with it does not.
	for _, kind := range []string{kindProject, kindLocations, kindReview, kindAllowance} {
		for _, outcome := range []string{outcomeHit, outcomeMiss, outcomeStale, outcomeError} {
			m.lookups.WithLabelValues(kind, outcome)
		}
	}
	return m, nil
}

// registered is the collector itself, or the one of the same kind that was registered before it.
func registered[C prometheus.Collector](registerer prometheus.Registerer, collector C) (C, error) {
	err := registerer.Register(collector)
	if before := (prometheus.AlreadyRegisteredError{}); errors.As(err, &before) {
		if existing, ok := before.ExistingCollector.(C); ok {
			return existing, nil
		}
	}
	if err != nil {
		return collector, fmt.Errorf("register the metrics of Milo's lookups: %w", err)
	}
	return collector, nil
}

// count counts a lookup.
func (m *lookupMetrics) count(kind, outcome string) { m.lookups.WithLabelValues(kind, outcome).Inc() }

// took observes a request to Milo.
func (m *lookupMetrics) took(kind string, duration time.Duration) {
	m.durations.WithLabelValues(kind).Observe(duration.Seconds())
}
