// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// expiryCollector reads the certificates when it is scraped, so that it reports nothing without certificates: a zero would mean a
// certificate that expired long ago.
type expiryCollector struct {
	expiry func() map[string]time.Time
	desc   *prometheus.Desc
}

func registerExpiry(registerer prometheus.Registerer, expiry func() map[string]time.Time) {
	if registerer == nil {
		return
	}
	registerer.MustRegister(&expiryCollector{expiry: expiry, desc: prometheus.NewDesc(
		"karmada_compute_webhook_certificate_expiry_timestamp_seconds",
		"When the webhook's certificate expires: the one it serves with, and the CA that signed it if that is its own.",
		[]string{"certificate"}, nil,
	)})
}

// Describe implements prometheus.Collector.
func (c *expiryCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect implements prometheus.Collector.
func (c *expiryCollector) Collect(metrics chan<- prometheus.Metric) {
	for certificate, at := range c.expiry() {
		metrics <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(at.Unix()), certificate)
	}
}
