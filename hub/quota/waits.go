// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// waits measures how long Instances wait for their quota. It is safe for concurrent use.
type waits struct {
	seconds prometheus.Histogram

	mu sync.Mutex
	// since is when each waiting Instance began to wait, by its index.
	since map[mcreconcile.Request]map[int]time.Time
}

func newWaits() *waits {
	return &waits{
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "karmada_compute_quota_wait_seconds",
			Help:    "Time from when this replica first sees that an Instance needs quota until quota is granted for its cell. karmada_compute_quota_withheld_instances counts Instances that still wait.",
			Buckets: []float64{0.5, 1, 2, 3, 5, 10, 30, 60, 300, 1800, 3600, 4 * 3600, 24 * 3600},
		}),
		since: map[mcreconcile.Request]map[int]time.Time{},
	}
}

// wait records which Instances of a deployment wait now; began returns when an Instance that has not waited before
// began to. All other Instances of the deployment no longer wait.
func (w *waits) wait(request mcreconcile.Request, indices []int, began func(index int) time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since := map[int]time.Time{}
	for _, index := range indices {
		known, ok := w.since[request][index]
		if !ok {
			known = began(index)
		}
		since[index] = known
	}
	w.since[request] = since
	if len(since) == 0 {
		delete(w.since, request)
	}
}

// granted measures the Instances that have waited until now.
func (w *waits) granted(request mcreconcile.Request, indices []int, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, index := range indices {
		if since, ok := w.since[request][index]; ok {
			// Two clocks: the project's may be ahead.
			w.seconds.Observe(max(0, now.Sub(since).Seconds()))
			delete(w.since[request], index)
		}
	}
}

// forget drops the deployments of a project.
func (w *waits) forget(project multicluster.ClusterName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for request := range w.since {
		if request.ClusterName == project {
			delete(w.since, request)
		}
	}
}

// noteWaiting records which wanted Instances are not granted quota. An Instance whose claim existed before this replica
// knew of it has waited since the claim's creation.
func (s *scope) noteWaiting(grantedBefore []int) {
	waiting := slices.DeleteFunc(wantedIndices(s.copied), func(index int) bool { return slices.Contains(grantedBefore, index) })
	now := s.Clock.Now()
	s.waits.wait(s.request, waiting, func(index int) time.Time {
		if claim := s.found[index].claim; claim != nil && claim.CreationTimestamp.Time.Before(now) {
			return claim.CreationTimestamp.Time
		}
		return now
	})
}
