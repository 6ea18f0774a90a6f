// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// hopeless is after how many repairs somebody is told.
const hopeless = 5

var faultsDesc = prometheus.NewDesc("karmada_compute_audit_faults",
	"Deployments of this replica's projects with something wrong on their way to the cells for too long, by what it is.",
	[]string{"reason"}, nil)

// Faults are what is wrong now, as a metric, and whom was told of it. It is safe for concurrent use.
type Faults struct {
	projects projects.Engaged

	mu   sync.Mutex
	of   map[mcreconcile.Request]map[path.Fault]bool
	told map[mcreconcile.Request]map[path.Key]bool
}

// NewFaults registers the metric. Deployments of projects that are not engaged any more do not count.
func NewFaults(engaged projects.Engaged, registerer prometheus.Registerer) (*Faults, error) {
	f := &Faults{projects: engaged, of: map[mcreconcile.Request]map[path.Fault]bool{}, told: map[mcreconcile.Request]map[path.Key]bool{}}
	if err := registerer.Register(f); err != nil {
		return nil, fmt.Errorf("register the metric of the audit: %w", err)
	}
	return f, nil
}

// Describe describes the metric.
func (f *Faults) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- faultsDesc }

// Collect counts.
func (f *Faults) Collect(metrics chan<- prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[path.Fault]int{}
	for request, faults := range f.of {
		if _, err := f.projects.Get(context.Background(), request.ClusterName); err != nil {
			delete(f.of, request)
			delete(f.told, request)
			continue
		}
		for fault := range faults {
			counts[fault]++
		}
	}
	for fault, count := range counts {
		metrics <- prometheus.MustNewConstMetric(faultsDesc, prometheus.GaugeValue, float64(count), string(fault))
	}
}

// set records what is wrong with a deployment now.
func (f *Faults) set(request mcreconcile.Request, findings []path.Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(findings) == 0 {
		delete(f.of, request)
		delete(f.told, request)
		return
	}
	faults := map[path.Fault]bool{}
	for i := range findings {
		faults[findings[i].Fault] = true
	}
	f.of[request] = faults
}

// tell is true once for each fault of a deployment, until the deployment is in order again.
func (f *Faults) tell(request mcreconcile.Request, key path.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told[request][key] {
		return false
	}
	if f.told[request] == nil {
		f.told[request] = map[path.Key]bool{}
	}
	f.told[request][key] = true
	return true
}
