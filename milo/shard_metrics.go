// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import "github.com/prometheus/client_golang/prometheus"

// RegisterMetrics registers the metrics of the shards and the projects. Projects in a shard that no replica owns are not reconciled.
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
			Help: "1 while Milo or, with --projects=namespaces, the hub answers another replica but not this replica, which has released its shards to the others, else 0.",
		}, func() float64 {
			if replica := p.replica.Load(); replica != nil && replica.IsCutOff() {
				return 1
			}
			return 0
		}),
	)
	p.registerProjects(registerer)
}
