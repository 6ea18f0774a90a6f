// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"hash/fnv"
	"net"
	"net/netip"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/fair"
)

const (
	// tick is the interval in which due questions begin.
	tick = 100 * time.Millisecond
	// retryAfter is the time between two questions while an answer may change.
	retryAfter = time.Second
	// seldom is the number of intervals between two questions to an address that has never answered.
	seldom = 6
	// resolvedFor is how long the addresses of a host name that answers are used.
	resolvedFor = 30 * time.Second
	// atOnce is the most questions that wait for an answer, of all projects.
	atOnce = 1024
	// maxTargets is the most addresses that are asked, and maxOfProject of one project. Further ones are Pending.
	maxTargets, maxOfProject = 32768, 4096
)

// Options configure a Prober.
type Options struct {
	// Interval is the interval in which each address is asked. 0: no address is asked, and all are Unknown.
	Interval time.Duration
	// Resolver is the HOST:PORT of the DNS server that is asked for the records of names. "": it is not asked, and all are Unknown.
	Resolver string
	// Servers are the hosts or URLs of the replica's own API servers, to which it sends no question.
	Servers []string
	Clock   clock.Clock
}

// Prober asks the addresses of Workloads. Create it with New. It is safe for concurrent use, and a nil one asks nothing.
//
// A replica that cannot reach addresses concludes nothing: an address that has never answered it is Unknown, and so is each address at a
// port at which a proxy between answers for addresses that no host has. A replica that ceases to
// reach addresses concludes nothing either: a failure counts only if another address has answered since the question before.
type Prober struct {
	interval time.Duration
	clock    clock.Clock
	rule     *rule
	asker    asker
	// zone is nil if no record is asked.
	zone *zone
	// question is ask. Tests of the timing have a network of their own.
	question func(ctx context.Context, r *record) outcome

	mu sync.Mutex
	// engaged are the projects of this replica, and left the projects that were engaged and are not any more.
	engaged map[multicluster.ClusterName]*engagement
	left    map[multicluster.ClusterName]bool
	// wanted are the targets of each Workload, and records the addresses that are asked. created counts these by project.
	wanted  map[mcreconcile.Request]map[Target]bool
	records map[Target]*record
	created map[multicluster.ClusterName]int
	// running counts the questions without an answer yet; true: for records. Each has a bound of its own: a resolver that does not answer
	// must not delay the questions to addresses.
	running map[bool]int
	// witnessed is when an address last answered. wantsWitness: an address has failed, and another one is asked at once. fallen are the
	// cities in which an address has failed first: their others are asked at once.
	witnessed    time.Time
	wantsWitness bool
	fallen       map[string]bool
}

type queue = workqueue.TypedRateLimitingInterface[mcreconcile.Request]

// engagement has the queue for the Workloads of a project whose addresses change. Projects share one queue.
type engagement struct{ queue }

// record is an address that is asked.
type record struct {
	Target
	history
	// of are the Workloads that want the address, and project the one of the first.
	of      map[mcreconcile.Request]bool
	project multicluster.ClusterName
	// due is when it is asked next, begun and ended when it was asked last.
	due, begun, ended time.Time
	asking            bool
	// ips are the IP addresses that were found at foundAt; resolved: they are a host name's. Only the question that runs uses them.
	ips      []netip.Addr
	resolved bool
	foundAt  time.Time
}

// New returns a Prober, which asks when it is started.
func New(o Options) *Prober {
	rule := newRule(o.Servers)
	p := &Prober{
		interval: o.Interval, clock: o.Clock, rule: rule,
		asker:   asker{allows: rule.allows, resolve: net.DefaultResolver.LookupNetIP, decoys: newDecoys()},
		engaged: map[multicluster.ClusterName]*engagement{}, left: map[multicluster.ClusterName]bool{},
		wanted: map[mcreconcile.Request]map[Target]bool{}, records: map[Target]*record{},
		created: map[multicluster.ClusterName]int{}, fallen: map[string]bool{}, running: map[bool]int{}, zone: newZone(o.Resolver),
	}
	p.question = p.ask
	return p
}

// asks reports whether questions of the kind of a target are asked.
func (p *Prober) asks(target *Target) bool {
	return p != nil && (target.ofZone() && p.zone != nil || !target.ofZone() && p.interval > 0)
}

// Set replaces the targets of a Workload. A target without an answer yet for which lost returns true is Lost until it answers: a
// replica that starts must not take an address back that the stored record has left out. lost may be nil. It returns false, and must be
// called again, if the project is not engaged here.
func (p *Prober) Set(workload mcreconcile.Request, targets []Target, lost func(Target) bool) bool {
	if p == nil || p.interval == 0 && p.zone == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left[workload.ClusterName] {
		// The reconcile was running when the project was disengaged. Its targets would never be forgotten.
		return len(targets) == 0
	}
	wanted := map[Target]bool{}
	for _, target := range targets {
		if !p.asks(&target) {
			continue
		}
		r := p.want(workload, target)
		if wanted[target] = true; r != nil && r.answer < Answers && lost != nil && lost(target) {
			r.answer = Lost
		}
	}
	p.keep(workload, wanted)
	return true
}

// want adds a target of a Workload. It returns nil beyond the bounds. p.mu is held.
func (p *Prober) want(workload mcreconcile.Request, target Target) *record {
	r, project := p.records[target], workload.ClusterName
	if r == nil {
		if len(p.records) >= maxTargets || p.created[project] >= maxOfProject {
			return nil
		}
		r = &record{Target: target, of: map[mcreconcile.Request]bool{}, project: project}
		if r.due = p.clock.Now(); target.ofZone() {
			// The record is written in a moment. A resolver may remember for long that it was missing.
			r.due = p.next(r, r.due.Add(zoneInterval))
		}
		p.records[target] = r
		p.created[project]++
	}
	r.of[workload] = true
	return r
}

// keep releases the targets that a Workload does not want any more. p.mu is held.
func (p *Prober) keep(workload mcreconcile.Request, wanted map[Target]bool) {
	for target := range p.wanted[workload] {
		r := p.records[target]
		if r == nil || wanted[target] {
			continue
		}
		if delete(r.of, workload); len(r.of) > 0 {
			continue
		}
		delete(p.records, target)
		if p.created[r.project]--; p.created[r.project] == 0 {
			delete(p.created, r.project)
		}
	}
	if p.wanted[workload] = wanted; len(wanted) == 0 {
		delete(p.wanted, workload)
	}
}

// Forget drops the targets of a Workload.
func (p *Prober) Forget(workload mcreconcile.Request) { p.Set(workload, nil, nil) }

// ForCluster implements the source of a multicluster controller: it requests the Workloads of each address whose answer changes. A
// project that is disengaged is forgotten.
func (p *Prober) ForCluster(project multicluster.ClusterName, _ cluster.Cluster) (source.TypedSource[mcreconcile.Request], bool, error) {
	return source.TypedFunc[mcreconcile.Request](func(ctx context.Context, target queue) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		began := &engagement{target}
		p.engaged[project] = began
		delete(p.left, project)
		context.AfterFunc(ctx, func() { p.leave(project, began) })
		return nil
	}), p != nil, nil
}

// leave forgets a project, unless it is engaged again.
func (p *Prober) leave(project multicluster.ClusterName, ended *engagement) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.engaged[project] != ended {
		return
	}
	delete(p.engaged, project)
	p.left[project] = true
	for workload := range p.wanted {
		if workload.ClusterName == project {
			p.keep(workload, nil)
		}
	}
}

// Start asks until ctx ends, and returns when no question is left.
func (p *Prober) Start(ctx context.Context) error {
	if p.interval == 0 && p.zone == nil {
		return nil
	}
	var running sync.WaitGroup
	defer running.Wait()
	learn := func(ctx context.Context) { p.rule.learn(ctx, p.asker.resolve) }
	learn(ctx)
	running.Go(func() { wait.UntilWithContext(ctx, learn, learnInterval) })
	for {
		for _, r := range p.begin() {
			running.Go(func() { p.end(r, p.question(ctx, r)) })
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.clock.After(tick):
		}
	}
}

// begin returns the addresses that are asked now. Projects take turns.
func (p *Prober) begin() []*record {
	now := p.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	due := map[bool]map[multicluster.ClusterName][]*record{false: {}, true: {}}
	for _, r := range p.records {
		if !r.asking && (p.hurries(r, now) || !r.due.After(now)) {
			r.due = now
			due[r.ofZone()][r.project] = append(due[r.ofZone()][r.project], r)
		}
	}
	clear(p.fallen)
	begun := append(fair.Turns(due[false], atOnce-p.running[false]), fair.Turns(due[true], zoneAtOnce-p.running[true])...)
	for _, r := range begun {
		r.asking, r.begun = true, now
		p.running[r.ofZone()]++
	}
	return begun
}

// hurries reports whether an address that answers is asked at once: one of its city has failed, or a failure elsewhere needs a
// witness. p.mu is held.
func (p *Prober) hurries(r *record, now time.Time) bool {
	switch {
	case r.answer != Answers || r.failures > 0 || r.ofZone():
		return false
	case p.fallen[r.City]:
		return now.Sub(r.begun) >= retryAfter
	}
	wanted := p.wantsWitness
	p.wantsWitness = false
	return wanted
}

// ask asks one address, or for one record. The addresses of a host name are resolved again after a failure: they may have changed.
func (p *Prober) ask(ctx context.Context, r *record) outcome {
	if r.ofZone() {
		return p.zone.ask(ctx, &r.Target)
	}
	if len(r.ips) == 0 || p.clock.Since(r.foundAt) >= resolvedFor {
		ips, resolved, err := p.asker.find(ctx, r.Address)
		if err != nil {
			return notAsked
		}
		r.ips, r.resolved, r.foundAt = ips, resolved, p.clock.Now()
	}
	result := p.asker.ask(ctx, &r.Target, r.ips, r.resolved)
	if result != answered {
		r.ips = nil
	}
	return result
}

// end records the result of a question, and requests the Workloads of an address whose answer has changed.
func (p *Prober) end(r *record, result outcome) {
	now := p.clock.Now()
	requests := map[mcreconcile.Request]queue{}
	p.mu.Lock()
	before := r.answer
	p.judge(r, result, now)
	r.asking, r.ended = false, now
	p.running[r.ofZone()]--
	r.due = p.next(r, now)
	if before != r.answer {
		for workload := range r.of {
			if project := p.engaged[workload.ClusterName]; project != nil {
				requests[workload] = project
			}
		}
	}
	p.mu.Unlock()
	for workload, target := range requests {
		target.Add(workload)
	}
}

// judge takes over the result of a question. p.mu is held.
func (p *Prober) judge(r *record, result outcome, now time.Time) {
	if r.ofZone() {
		r.history = r.recorded(result, now)
		return
	}
	before := r.answer
	r.history = r.after(result, p.witnessed.After(r.ended), now)
	if result == answered {
		p.witnessed = now
	} else if result == failed && before == Answers {
		p.wantsWitness = true
		p.fallen[r.City] = p.fallen[r.City] || r.failures == 1
	}
}

// next is when an address is asked next. Each has a time of its own in the interval, so that they are spread over it, also after many
// of them were asked at once.
func (p *Prober) next(r *record, now time.Time) time.Time {
	interval := p.interval
	switch {
	case r.ofZone():
		interval = zoneInterval
	case r.changes():
		return r.begun.Add(retryAfter)
	case r.answer == Unknown && r.failures >= fall:
		now = now.Add((seldom - 1) * interval)
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(r.Address + r.Host + r.Path))
	due := now.Truncate(interval).Add(time.Duration(hash.Sum64() % uint64(interval))) //nolint:gosec // a positive interval
	if !due.After(now) {
		due = due.Add(interval)
	}
	return due
}
