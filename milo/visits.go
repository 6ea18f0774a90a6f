// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// visitors is how many projects are visited at once, and visitTimeout bounds the requests of a visit.
	visitors     = 4
	visitTimeout = 15 * time.Second
	// newFor is how long a project counts as new after its creation: a new project is visited at once, and not in turn.
	newFor = 10 * time.Minute
	// maxDeparted bounds how many projects that are gone are remembered, so that they are visited at once when they are
	// back.
	maxDeparted = 100000
	// soon spreads the visits of new projects.
	soon = 2 * time.Second
	// hurryPerProject spreads the visits of all projects when they are due soon: fifty a second.
	hurryPerProject = 20 * time.Millisecond
)

// Results of a visit, as a label of the metric.
const (
	visitIdle   = "idle"
	visitFound  = "found"
	visitFailed = "failed"
)

// visitor is called at a visit.
type visitor = func(ctx context.Context, project string, c client.Client) error

// OnVisit registers f, which is called at each visit of a project that is not engaged and has no Workloads, with a
// client that has no cache. f is not called for a project in which no object may be written. Call OnVisit before Start.
func (p *Provider) OnVisit(f func(ctx context.Context, project string, c client.Client) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visitors = append(p.visitors, f)
}

// VisitAll has every project visited soon that is not engaged, unless none ever is.
func (p *Provider) VisitAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	spread := min(time.Duration(len(p.scheduled))*hurryPerProject, p.options.Sweep)
	for project := range p.scheduled {
		// An earlier time replaces a later one.
		p.due.AddAfter(project, jitter(spread))
	}
}

// schedule queues a project for a visit in turn, unless it is queued already. p.mu is held.
func (p *Provider) schedule(project string) {
	known := p.known[project]
	if p.options.IdleAfter <= 0 || p.options.Sweep <= 0 || p.scheduled[project] == known.uid {
		return
	}
	spread := p.options.Sweep
	if p.options.Clock.Since(known.since) < newFor {
		spread = min(soon, spread)
	}
	p.scheduled[project] = known.uid
	p.due.AddAfter(project, jitter(spread))
}

// jitter is a time up to spread.
func jitter(spread time.Duration) time.Duration {
	return time.Duration(rand.Float64() * float64(spread)) //nolint:gosec // jitter.
}

// visitNext visits the next project. It returns false at the end.
func (p *Provider) visitNext(ctx context.Context) bool {
	project, ended := p.due.Get()
	if ended {
		return false
	}
	defer p.due.Done(project)
	p.mu.Lock()
	delete(p.scheduled, project)
	known, due := p.isToVisit(project)
	p.mu.Unlock()
	if !due {
		return true
	}
	used, err := p.visit(ctx, project, known)
	if ctx.Err() != nil {
		return false
	}
	switch {
	case used:
		// Its mark was lost, or there never was one.
		p.counts.visits.WithLabelValues(visitFound).Inc()
		p.options.Log.Info("Project has Workloads and no mark", "project", project)
		p.options.Marks.Ensure(project)
		p.Wake(project)
		return true
	case err != nil:
		p.counts.visits.WithLabelValues(visitFailed).Inc()
		p.options.Log.V(1).Info("Project cannot be visited; it is tried again", "project", project, "error", err.Error())
	default:
		p.counts.visits.WithLabelValues(visitIdle).Inc()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, due := p.isToVisit(project); due && p.scheduled[project] == "" {
		next := p.options.Sweep*9/10 + jitter(p.options.Sweep/5)
		if err != nil {
			next /= 4
		}
		p.scheduled[project] = known.uid
		p.due.AddAfter(project, next)
	}
	return true
}

// isToVisit reports whether a project exists, belongs to this replica, and is not engaged. p.mu is held.
func (p *Provider) isToVisit(project string) (existing, bool) {
	known, exists := p.known[project]
	_, owned := p.owned[p.shardOf(project)]
	return known, exists && owned && p.projects[project] == nil
}

// visit asks a project whether it is in use, and calls the visitors if it is not.
func (p *Provider) visit(ctx context.Context, project string, known existing) (used bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, visitTimeout)
	defer cancel()
	c, err := p.planes.Client(project)
	if err != nil {
		return false, err
	}
	if used, err := p.isUsed(ctx, c); err != nil || used || known.isQuiet {
		return used, err
	}
	p.mu.RLock()
	called := p.visitors
	p.mu.RUnlock()
	var failures []error
	for _, f := range called {
		failures = append(failures, f(ctx, project, c))
	}
	return false, errors.Join(failures...)
}

// visitCounts are the metrics of visits.
type visitCounts struct{ visits *prometheus.CounterVec }

func newVisitCounts() visitCounts {
	return visitCounts{visits: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karmada_compute_project_visits_total",
		Help: "Visits of projects that are not engaged, by result: idle; found, if the project has Workloads that no mark reported; or failed.",
	}, []string{"result"})}
}
