// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package disruption

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var instancesDesc = prometheus.NewDesc("karmada_compute_cell_budget_instances",
	"Instances in the cell that have a disruption budget: available, of which disruptions leave floor, and may take "+
		"disruptable now. A deployment that makes no voluntary disruption has a floor of all its available Instances. "+
		"karmada_compute_cell_evictions_total counts the agent's own evictions that a budget held.",
	[]string{"count"}, nil)

// scrapeTimeout is how long a scrape waits for the cache.
const scrapeTimeout = time.Second

// Counts is the metric of the budgets in the cell. It reads from a cache.
type Counts struct{ Reader client.Reader }

// Describe describes the metric.
func (Counts) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- instancesDesc }

// Collect sums up the budgets.
func (c Counts) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var budgets policyv1.PodDisruptionBudgetList
	if c.Reader.List(ctx, &budgets, client.UnsafeDisableDeepCopy) != nil {
		// A replica that waits for its Lease has no cache: the other one counts.
		return
	}
	sums := map[string]int32{"floor": 0, "available": 0, "disruptable": 0}
	for i := range budgets.Items {
		budget := &budgets.Items[i]
		floor := InForce(budget)
		if floor == nil {
			continue
		}
		sums["available"] += budget.Status.CurrentHealthy
		sums["floor"] += min(floor.MinAvailable, budget.Status.CurrentHealthy)
		// Until Kubernetes has processed a change it refuses all evictions.
		if processed(budget) {
			sums["disruptable"] += budget.Status.DisruptionsAllowed
		}
	}
	for count, sum := range sums {
		metrics <- prometheus.MustNewConstMetric(instancesDesc, prometheus.GaugeValue, float64(sum), count)
	}
}
