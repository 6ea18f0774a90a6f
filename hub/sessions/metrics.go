// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import "github.com/prometheus/client_golang/prometheus"

type serverMetrics struct {
	open    prometheus.Gauge
	ended   *prometheus.CounterVec
	bytes   *prometheus.CounterVec
	refused prometheus.Counter
}

// Directions of bytes.
const toClient, fromClient = "to_client", "from_client"

// newMetrics creates the metrics and registers them.
func newMetrics(registerer prometheus.Registerer) *serverMetrics {
	m := &serverMetrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "karmada_compute_session_streams",
			Help: "Streams of InstanceSessions that this replica carries.",
		}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_session_streams_ended_total",
			Help: "Streams of InstanceSessions that ended, by the type of the session and the reason of its condition Ready.",
		}, []string{"type", "reason"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_session_bytes_total",
			Help: "Bytes of streams of InstanceSessions that ended, by direction: to the client or from it.",
		}, []string{"direction"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "karmada_compute_session_requests_refused_total",
			Help: "Requests for sessions that were refused: the session does not exist, has expired or was used, or the client has another key.",
		}),
	}
	registerer.MustRegister(m.open, m.ended, m.bytes, m.refused)
	return m
}
