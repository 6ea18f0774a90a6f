// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// Book remembers the findings on the paths of the deployments of engaged projects: when each began, which ones last,
// and which were reported to the consumer. All judges of a path share it. It is safe for concurrent use.
type Book struct {
	clock clock.PassiveClock

	// pages are by project and deployment.
	pages projects.Store[pages]

	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[mcreconcile.Request]
}

type pages map[types.NamespacedName]*page

// page holds the findings of one deployment.
type page struct {
	// since is when each finding began.
	since map[Key]time.Time
	// lasting are the findings that count, and told the findings that were reported to the consumer.
	lasting []Finding
	told    map[Key]bool
	// slicesJudged is when the paths of all slices were last found faultless.
	slicesJudged time.Time
}

// NewBook returns an empty Book.
func NewBook(c clock.PassiveClock) *Book {
	return &Book{clock: c, pages: projects.Store[pages]{New: func(projects.Engagement) pages { return pages{} }}}
}

// Engagements returns the source by which the Book forgets a project that is disengaged.
func (b *Book) Engagements() *projects.Store[pages] { return &b.pages }

// page returns the page of a deployment. b.mu is held.
func (b *Book) page(deployment mcreconcile.Request) *page {
	project := b.pages.Of(deployment.ClusterName)
	p := project[deployment.NamespacedName]
	if p == nil {
		p = &page{}
		project[deployment.NamespacedName] = p
	}
	return p
}

// Scope is the part of the paths of a deployment that one judgement covers. A judgement says nothing about findings of
// the other scope: neither their ages nor whether they last.
type Scope bool

// The scopes.
const (
	// OwnPath is the path of the deployment itself.
	OwnPath Scope = false
	// SlicePaths are the paths of all slices of the deployment.
	SlicePaths Scope = true
)

// scope returns the scope that a finding with this key belongs to.
func (k Key) scope() Scope { return k.Slice != "" }

// Observe sets Since, to the second, in findings that have none, to when each was first observed, and forgets findings
// of the scope that have ended. A finding that ends and begins again is new.
func (b *Book) Observe(deployment mcreconcile.Request, scope Scope, findings []Finding) []Finding {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.pages.Of(deployment.ClusterName)[deployment.NamespacedName]; !known && len(findings) == 0 {
		return nil
	}
	p := b.page(deployment)
	now := make(map[Key]time.Time, len(findings))
	for key, since := range p.since {
		if key.scope() != scope {
			now[key] = since
		}
	}
	for i := range findings {
		key := findings[i].Key()
		since, known := p.since[key]
		if !known {
			since = b.clock.Now().Truncate(time.Second)
		}
		now[key] = since
		if findings[i].Since.IsZero() {
			findings[i].Since = since
		}
	}
	p.since = now
	return findings
}

// Replace replaces the lasting findings of a scope. If the findings of the slices change, it requests the deployment
// from Source.
func (b *Book) Replace(deployment mcreconcile.Request, scope Scope, lasting []Finding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.page(deployment)
	before := ofSlices(p.lasting)
	others := slices.DeleteFunc(p.lasting, func(f Finding) bool { return f.Key().scope() == scope })
	p.lasting = slices.Concat(others, lasting)
	if len(p.lasting) == 0 {
		p.told = nil
	}
	same := slices.EqualFunc(before, ofSlices(p.lasting), func(a, b Finding) bool { return a.Key() == b.Key() && a.Since.Equal(b.Since) })
	if !same && b.queue != nil {
		b.queue.Add(deployment)
	}
}

func ofSlices(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Key().scope() != SlicePaths })
}

// OfSlices returns the lasting findings on the paths of a deployment's slices. Only the collector judges slices:
// judging all of them at each change of an Instance would be too expensive.
func (b *Book) OfSlices(deployment mcreconcile.Request) []Finding {
	b.mu.Lock()
	defer b.mu.Unlock()
	return ofSlices(b.page(deployment).lasting)
}

// Source returns a source of requests for deployments whose slices have other lasting findings than before.
func (b *Book) Source() source.TypedSource[mcreconcile.Request] {
	return source.TypedFunc[mcreconcile.Request](func(_ context.Context,
		queue workqueue.TypedRateLimitingInterface[mcreconcile.Request],
	) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.queue = queue
		for project, deployments := range b.pages.All() {
			for deployment, p := range deployments {
				if len(ofSlices(p.lasting)) > 0 {
					request := mcreconcile.Request{ClusterName: project}
					request.NamespacedName = deployment
					queue.Add(request)
				}
			}
		}
		return nil
	})
}

// Tell reports, once for each finding, whether the consumer must be informed of it, until the deployment has no lasting
// finding.
func (b *Book) Tell(deployment mcreconcile.Request, key Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.page(deployment)
	if p.told[key] {
		return false
	}
	if p.told == nil {
		p.told = map[Key]bool{}
	}
	p.told[key] = true
	return true
}

// SlicesJudged returns when the paths of all slices of a deployment were last found faultless; zero: never, or a
// judgement is due.
func (b *Book) SlicesJudged(deployment mcreconcile.Request) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.page(deployment).slicesJudged
}

// SetSlicesJudged sets when the paths of all slices of a deployment were found faultless. The zero time makes a
// judgement due, as it is for a deployment of a project that is not engaged.
func (b *Book) SetSlicesJudged(deployment mcreconcile.Request, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, kept := b.pages.Get(deployment.ClusterName); !kept && at.IsZero() {
		return
	}
	b.page(deployment).slicesJudged = at
}

// Faults counts the deployments with a lasting finding, by fault.
func (b *Book) Faults() map[Fault]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := map[Fault]int{}
	for _, deployments := range b.pages.All() {
		for _, p := range deployments {
			faults := map[Fault]bool{}
			for i := range p.lasting {
				faults[p.lasting[i].Fault] = true
			}
			for fault := range faults {
				counts[fault]++
			}
		}
	}
	return counts
}

// Forget drops the findings of a deployment.
func (b *Book) Forget(deployment mcreconcile.Request) {
	b.Replace(deployment, OwnPath, nil)
	b.Replace(deployment, SlicePaths, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pages.Of(deployment.ClusterName), deployment.NamespacedName)
}

// Remaining returns how much longer a finding must last before it counts; 0: it counts. It never exceeds bound, even if
// other clocks differ.
func (f *Finding) Remaining(now time.Time, bound time.Duration) time.Duration {
	if f.Certain {
		return 0
	}
	return min(bound, max(0, bound-now.Sub(f.Since)))
}
