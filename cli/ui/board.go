// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

const (
	// boardPace is the least time between two states that a page gets.
	boardPace = time.Second
	// boardCheck is the interval at which a board checks whether its API server answers. A watch alone does not show that it is
	// silent because its server is.
	boardCheck = 5 * time.Second
	// boardFacts is the interval at which it reads the objects that are not watched.
	boardFacts = 30 * time.Second
	// boardTimeout bounds the requests of a check, and the start of watches.
	boardTimeout = 10 * time.Second
	// boardRetry is how long a board waits before it connects again.
	boardRetry = 2 * time.Second
	// boardStale is the age of a state that is not current: a machine that has slept shows it until the API server answers.
	boardStale = 30 * time.Second
	// mostKept is the number of queries whose state a board keeps.
	mostKept = 8
)

// board is the source of the page: the Workloads of a namespace, from watches. When the API server does not answer, or
// does not accept the credential any more, it reads the kubeconfig and connects again, and shows the last state until
// then.
type board struct {
	*command.Command
	// namespace is the one that the user has chosen; "": the kubeconfig's.
	namespace string

	mu sync.Mutex
	// namespaces are the ones to choose from.
	namespaces []string
	// published is when the last state was current.
	published time.Time
	// connected is nil while the board is not connected.
	connected *connected
	problem   *page.Problem
	// states are the last states, by query. fresh marks the states computed since the last change.
	states map[page.Query]*page.State
	fresh  map[page.Query]bool
	// federation is the last read of the hub; nil: the hub is not read. federationAlone: no project is read.
	federation      *page.Federation
	federationAlone bool
	// changed is closed with the next change.
	changed chan struct{}
}

var _ page.Source = &board{}

// connected holds the connection of a board, and the objects that it reads over it.
type connected struct {
	*command.Session
	// ctx ends with the connection.
	ctx    context.Context
	watch  *live.Watch
	hidden map[string]error
	facts  facts
}

// facts hold the state that is not watched.
type facts struct {
	locations  []cities.Location
	readError  error
	suspension *view.Suspension
	// noLogs is why the user cannot have logs; "" if it is not known.
	noLogs string
}

func newBoard(c *command.Command, namespace string) *board {
	return &board{
		Command: c, namespace: namespace, changed: make(chan struct{}), states: map[page.Query]*page.State{}, fresh: map[page.Query]bool{},
	}
}

// run keeps the board connected until ctx ends.
func (b *board) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := b.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		b.lose(err)
		select {
		case <-ctx.Done():
		case <-time.After(boardRetry):
		}
	}
}

// follow connects, and publishes changes until the connection breaks.
func (b *board) follow(ctx context.Context) error {
	ctx, disconnect := context.WithCancel(ctx)
	defer disconnect()
	now, err := b.start(ctx, disconnect)
	if err != nil {
		return err
	}
	b.publish(now)

	checked, asked := time.Now(), time.Now()
	for {
		if err := now.watch.Wait(ctx); err != nil {
			return err
		}
		if err := now.watch.Err(); err != nil && !apierrors.IsForbidden(err) {
			return err
		}
		if time.Since(checked) >= boardCheck {
			first, err := b.check(ctx, now.Session)
			if err != nil {
				return err
			}
			checked = time.Now()
			if time.Since(asked) >= boardFacts {
				if err := b.offer(ctx, now.Session); err != nil {
					return err
				}
				next := *now
				next.facts, asked = factsOf(ctx, now.Session, first), time.Now()
				now = &next
			}
		}
		b.publish(now)
		select {
		case <-ctx.Done():
		case <-time.After(boardPace):
		}
	}
}

// start connects with the kubeconfig as it is now, and starts watches.
func (b *board) start(ctx context.Context, disconnect context.CancelFunc) (*connected, error) {
	s, err := b.Reconnect()
	if err != nil {
		return nil, err
	}
	s.Namespace = cmp.Or(b.namespace, s.Namespace)
	if err := b.offer(ctx, s); err != nil {
		return nil, err
	}
	// Caches wait for API servers without an end.
	late := time.AfterFunc(boardTimeout+boardCheck, disconnect)
	defer late.Stop()
	o := s.Live("")
	hidden, err := live.Hidden(ctx, o)
	switch {
	case view.IsHidden(err) && !apierrors.IsForbidden(err):
		return nil, command.ErrNotServed
	case err != nil:
		return nil, err
	}
	first, err := b.check(ctx, s)
	if err != nil {
		return nil, err
	}
	watch, err := live.Start(ctx, o, hidden)
	if err != nil {
		return nil, err
	}
	// Started here, and not by the first page: a page must not wait for an API server.
	if _, err := watch.Events(ctx, s.Project, s.Namespace); apierrors.IsForbidden(err) {
		hidden[view.EventsOfProject] = err
	} else if err != nil {
		return nil, fmt.Errorf("watch events: %w", err)
	}
	return &connected{Session: s, ctx: ctx, watch: watch, hidden: hidden, facts: factsOf(ctx, s, first)}, nil
}

// check returns an error if the API server does not answer, or the namespace does not exist, and otherwise a Workload; nil: there
// is no Workload to be seen.
func (b *board) check(ctx context.Context, s *command.Session) (*v1alpha.Workload, error) {
	ctx, cancel := context.WithTimeout(ctx, boardTimeout)
	defer cancel()
	list := &v1alpha.WorkloadList{}
	err := s.Project.Client.List(ctx, list, client.InNamespace(s.Namespace), client.Limit(1))
	switch {
	case view.IsHidden(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list workloads: %w", err)
	case len(list.Items) == 0:
		return nil, exists(ctx, s)
	}
	return &list.Items[0], nil
}

// factsOf reads what is not watched. workload may be nil.
func factsOf(ctx context.Context, s *command.Session, workload *v1alpha.Workload) facts {
	ctx, cancel := context.WithTimeout(ctx, boardTimeout)
	defer cancel()
	found := facts{}
	found.locations, found.readError = view.ReadLocations(ctx, s.Project.Client)
	if workload != nil {
		found.suspension = s.Suspension(ctx, workload)
	}
	found.noLogs = noLogs(ctx, s)
	return found
}

// publish tells the page that there may be another state.
func (b *board) publish(now *connected) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.connected, b.problem, b.published = now, nil, b.Clock.Now()
	b.wake()
}

// lose records why the board is not connected.
func (b *board) lose(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.connected = nil
	problem := problemOf(err, b.Clock.Now())
	if b.namespace != "" && apierrors.IsForbidden(err) {
		problem.Do = "Choose another namespace, or ask for a role in this one. The page continues by itself."
	}
	if b.problem != nil {
		problem.Since = b.problem.Since
	}
	b.problem = problem
	b.wake()
}

// wake ends the wait of pages. The caller holds the lock.
func (b *board) wake() {
	clear(b.fresh)
	close(b.changed)
	b.changed = make(chan struct{})
}

// Changed implements page.Source.
func (b *board) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// State implements page.Source.
func (b *board) State(_ context.Context, q page.Query) *page.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.withFederation(b.ofProject(q))
}

// ofProject returns the state of the project. The caller holds the lock.
func (b *board) ofProject(q page.Query) *page.State {
	problem := b.problem
	switch now := b.Clock.Now(); {
	case b.connected == nil:
	case now.Sub(b.published) > boardStale:
		problem = problemOf(nil, b.published)
	case b.fresh[q]:
		return b.states[q]
	default:
		state, err := b.connected.state(q)
		if err == nil {
			state.Namespaces = b.namespaces
			b.keep(q, state)
			return state
		}
		problem = problemOf(err, now)
	}
	shown := page.State{Namespace: b.namespace}
	for _, kept := range []page.Query{q, {Workload: q.Workload}, {}} {
		if last := b.states[kept]; last != nil {
			shown = *last
			break
		}
	}
	shown.Problem, shown.Namespaces = problem, b.namespaces
	return &shown
}

// keep keeps a state. The caller holds the lock.
func (b *board) keep(q page.Query, state *page.State) {
	if len(b.states) >= mostKept {
		maps.DeleteFunc(b.states, func(kept page.Query, _ *page.State) bool { return !b.fresh[kept] })
	}
	if len(b.states) < mostKept || b.states[q] != nil {
		b.states[q], b.fresh[q] = state, true
	}
}

// Instances implements page.Source.
func (b *board) Instances(_ context.Context, workload, first string) []*view.Node {
	snapshot := b.snapshot(workload)
	if snapshot == nil {
		return nil
	}
	return snapshot.Tree().From(first, page.MostInstances)
}

// Way implements page.Source.
func (b *board) Way(_ context.Context, workload, instance string) *view.Way {
	snapshot := b.snapshot(workload)
	if snapshot == nil {
		return nil
	}
	return snapshot.WayTo(instance)
}

// snapshot returns the present state of a Workload; nil: it is not known at present.
func (b *board) snapshot(workload string) *view.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.connected == nil || workload == "" {
		return nil
	}
	snapshot, err := b.connected.snapshot(workload)
	if err != nil {
		return nil
	}
	return snapshot
}
