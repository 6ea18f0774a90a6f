// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/karmada-compute/karmada-compute/hub/path"
)

// hopeless is the number of repairs after which the consumer is informed.
const hopeless = 5

var faultsDesc = prometheus.NewDesc("karmada_compute_audit_faults",
	"Deployments of this replica's projects whose path to the cells has had a fault for too long, by fault.",
	[]string{"reason"}, nil)

// Faults is the metric of the lasting findings in a Book.
type Faults struct{ Book *path.Book }

// Describe describes the metric.
func (Faults) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- faultsDesc }

// Collect counts the findings.
func (f Faults) Collect(metrics chan<- prometheus.Metric) {
	for fault, count := range f.Book.Faults() {
		metrics <- prometheus.MustNewConstMetric(faultsDesc, prometheus.GaugeValue, float64(count), string(fault))
	}
}
