// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// firstRetry is the delay before denied quota is claimed again; each further denial doubles it, up to lastRetry.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// memory holds the denials of each deployment. A restart forgets them: then all missing quota is claimed again. It is
// safe for concurrent use.
type memory struct {
	withheld *prometheus.GaugeVec

	mu          sync.Mutex
	deployments map[mcreconcile.Request]remembered
}

// remembered holds the denials of one deployment.
type remembered struct {
	denials map[int]denial
	// wait is the time between the last denial and next, when quota is claimed again.
	wait time.Duration
	next time.Time
	// reasons counts the denials by reason, except for suspended projects.
	reasons map[string]int
}

func newMemory() *memory {
	m := &memory{
		withheld: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "karmada_compute_quota_withheld_instances",
			Help: "Instances of this replica's projects that do not start because they are not granted quota, by the reason of " +
				"their condition QuotaGranted. Instances of suspended projects are not counted.",
		}, []string{"reason"}),
		deployments: map[mcreconcile.Request]remembered{},
	}
	// The reasons with alerts have a time series before any Instance is withheld: otherwise a query cannot distinguish
	// 0 from an absent metric.
	for _, reason := range []string{
		v1alpha.ReasonPendingEvaluation, v1alpha.ReasonQuotaExceeded, v1alpha.ReasonQuotaNoBudget, v1alpha.ReasonQuotaMisconfigured,
		v1alpha.ReasonQuotaValidationFailed, v1alpha.ReasonQuotaBackendUnavailable,
	} {
		m.withheld.WithLabelValues(reason)
	}
	return m
}

func (m *memory) recall(request mcreconcile.Request) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deployments[request]
}

// remember replaces the record of a deployment, and returns it. fresh: a denial is new.
func (m *memory) remember(request mcreconcile.Request, denials map[int]denial, fresh bool, now time.Time) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := remembered{denials: maps.Clone(denials), reasons: map[string]int{}}
	before := m.deployments[request]
	if len(denials) > 0 {
		next.wait, next.next = before.wait, before.next
	}
	if fresh && len(denials) > 0 {
		next.wait = min(lastRetry, max(firstRetry, 2*before.wait))
		next.next = now.Add(next.wait)
	}
	for _, why := range denials {
		if why != ofSuspended {
			next.reasons[why.reason]++
		}
	}
	m.count(before.reasons, -1)
	m.count(next.reasons, 1)
	if len(denials) == 0 {
		delete(m.deployments, request)
		return next
	}
	m.deployments[request] = next
	return next
}

// forget drops the records of all deployments of a project.
func (m *memory) forget(project multicluster.ClusterName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for request, known := range m.deployments {
		if request.ClusterName == project {
			m.count(known.reasons, -1)
			delete(m.deployments, request)
		}
	}
}

func (m *memory) count(reasons map[string]int, sign int) {
	for reason, n := range reasons {
		m.withheld.WithLabelValues(reason).Add(float64(sign * n))
	}
}

// due reports whether it is time to claim again.
func (r *remembered) due(now time.Time) bool { return !now.Before(r.next) }

// unanswered is the denial while Milo does not answer. The message has no details: they change, and each change would
// be a write of the copy.
var unanswered = denial{
	v1alpha.ReasonQuotaBackendUnavailable, "Milo does not answer; the add-on asks again, and running Instances keep running",
}

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
			Name: "karmada_compute_quota_wait_seconds",
			Help: "Time from when this replica first sees that an Instance needs quota until quota is granted for its cell. " +
				"karmada_compute_quota_withheld_instances counts Instances that still wait.",
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
	waiting := slices.DeleteFunc(s.wanted(), func(index int) bool { return slices.Contains(grantedBefore, index) })
	now := s.Clock.Now()
	s.waits.wait(s.request, waiting, func(index int) time.Time {
		if claim := s.found[index].claim; claim != nil && claim.CreationTimestamp.Time.Before(now) {
			return claim.CreationTimestamp.Time
		}
		return now
	})
}
