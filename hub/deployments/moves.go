// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
)

// Moves counts the decisions about cities that serve nothing. It is safe for concurrent use.
type Moves struct {
	total *prometheus.CounterVec
}

// NewMoves returns a Moves and registers its metric.
func NewMoves(registerer prometheus.Registerer) *Moves {
	m := &Moves{total: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karmada_compute_city_moves_total",
		Help: "Decisions about the candidates of placements since the start of the replica, by the reason of the Event: CityReplaced, " +
			"CityReturns, CityReturned and ReturnGivenUp.",
	}, []string{"reason"})}
	registerer.MustRegister(m.total)
	return m
}

func (m *Moves) count(notes []plan.Event) {
	if m == nil {
		return
	}
	for _, note := range notes {
		m.total.WithLabelValues(note.Reason).Inc()
	}
}
