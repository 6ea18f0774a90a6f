// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Ignored counts entries of reports that are not shown. It is safe for concurrent use.
type Ignored struct {
	entries *prometheus.CounterVec
}

// NewIgnored returns Ignored and registers its metric.
func NewIgnored(registerer prometheus.Registerer) *Ignored {
	i := &Ignored{entries: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karmada_compute_report_entries_ignored_total",
		Help: "Entries of the reports of cells that were ignored, each time that a report was read, by cell and cause. " +
			"UnknownIndex: the deployment cannot have the Instance. OtherCell: the Instance is assigned to another cell; while it " +
			"moves that is no fault. Repeated: it was reported before. UnknownState: it is shown without its state.",
	}, []string{"cell", "cause"})}
	registerer.MustRegister(i.entries)
	return i
}

// allIndices are the indices of the reports in the status of a deployment.
var allIndices = v1alpha.IndexRange{First: 0, Last: 9999}

// count counts the ignored entries of reports on a deployment. Karmada names the cells, so there are no more time
// series than Clusters, and a cell gets its counters when it reports.
func (i *Ignored) count(deployment *v1alpha.WorkloadDeployment, reports []v1alpha.InstanceReport, within v1alpha.IndexRange) {
	for n := range reports {
		for _, cause := range wire.IgnoredCauses {
			// A counter that begins with its first event hides that event from rates.
			i.entries.WithLabelValues(reports[n].Cell, string(cause))
		}
	}
	for cell, causes := range wire.Ignored(deployment, reports, within) {
		for cause, count := range causes {
			i.entries.WithLabelValues(cell, string(cause)).Add(float64(count))
		}
	}
}
