// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Values of the label "kind": the kinds of lookups.
const (
	kindProject   = "project"
	kindLocations = "locations"
	kindReview    = "review"
	kindAllowance = "allowance"
	kindInstances = "instances"
	// kindProbe and kindSelf are in the durations only: they are not cached.
	kindProbe = "probe"
	kindSelf  = "self"
)

// Values of the label "outcome": how a lookup ended.
const (
	// outcomeHit: the cached answer was fresh.
	outcomeHit = "hit"
	// outcomeMiss: Milo answered, found or not found. Every caller that waited for the answer counts.
	outcomeMiss = "miss"
	// outcomeStale: Milo did not answer in time, and a stale answer was returned.
	outcomeStale = "stale"
	// outcomeError: there was no answer.
	outcomeError = "error"
)

// lookupMetrics are the metrics of lookups and of requests to Milo.
type lookupMetrics struct {
	lookups   *prometheus.CounterVec
	durations *prometheus.HistogramVec
}

// newLookupMetrics registers the metrics, unless registerer is nil.
func newLookupMetrics(registerer prometheus.Registerer) *lookupMetrics {
	m := &lookupMetrics{
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_milo_lookups_total",
			Help: "Lookups of projects, by kind and by the source of the answer: the cache (hit), the API server of the projects " +
				"(miss), the cache because that API server did not answer (stale), or no source (error). The API server of the " +
				"projects is Milo or, with --projects=namespaces, the hub.",
		}, []string{"kind", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "karmada_compute_milo_request_duration_seconds",
			Help: "Duration of requests to Milo or, with --projects=namespaces, to the hub about projects, until the answer or " +
				"the timeout, by kind.",
			Buckets: prometheus.DefBuckets,
		}, []string{"kind"}),
	}
	if registerer != nil {
		registerer.MustRegister(m.lookups, m.durations)
	}
	// Series start at 0, so that a rate shows the first error.
	for _, kind := range []string{kindProject, kindLocations, kindReview, kindAllowance, kindInstances} {
		for _, outcome := range []string{outcomeHit, outcomeMiss, outcomeStale, outcomeError} {
			m.lookups.WithLabelValues(kind, outcome)
		}
	}
	return m
}

// count counts a lookup.
func (m *lookupMetrics) count(kind, outcome string) { m.lookups.WithLabelValues(kind, outcome).Inc() }

// took observes a request to Milo.
func (m *lookupMetrics) took(kind string, duration time.Duration) {
	m.durations.WithLabelValues(kind).Observe(duration.Seconds())
}

// RegisterMetrics registers the metrics of the shards, the projects and the visits. Projects in a shard that no replica
// owns are not reconciled.
func (p *Provider) RegisterMetrics(registerer prometheus.Registerer) {
	registerer.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "karmada_compute_shards",
			Help: "Shards into which the projects are divided.",
		}, func() float64 { return float64(p.options.Shards) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "karmada_compute_shards_owned",
			Help: "Shards that this replica owns. Projects in a shard that no replica owns are not reconciled.",
		}, func() float64 {
			p.mu.RLock()
			defer p.mu.RUnlock()
			return float64(len(p.owned))
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "karmada_compute_milo_cut_off",
			Help: "1 while Milo or, with --projects=namespaces, the hub answers another replica but not this replica, which has " +
				"released its shards to the others, else 0.",
		}, func() float64 {
			if replica := p.replica.Load(); replica != nil && replica.IsCutOff() {
				return 1
			}
			return 0
		}),
		p.counts.visits,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "karmada_compute_projects",
			Help: "Projects in the shards that this replica owns.",
		}, func() float64 {
			p.mu.RLock()
			defer p.mu.RUnlock()
			count := 0
			for project := range p.known {
				if _, owned := p.owned[p.shardOf(project)]; owned {
					count++
				}
			}
			return float64(count)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "karmada_compute_projects_engaged",
			Help: "Projects that this replica watches because they have Workloads, are about to have Workloads, or had Workloads recently.",
		}, func() float64 {
			p.mu.RLock()
			defer p.mu.RUnlock()
			return float64(len(p.projects))
		}),
	)
}
