// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/basic"

	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/milo/peers"
	"github.com/karmada-compute/karmada-compute/milo/shards"
)

// Coordinator shares the projects among replicas: package shards divides a fixed number of shards among them, and the
// Provider engages the projects of the shards that this replica owns.
//
// multicluster-runtime's sharded coordinator would renew a Lease per shard every few seconds
// (docs/decisions/shards.md).
type Coordinator struct {
	// Coordinator has the controllers, which the Provider engages with each project.
	*basic.Coordinator
	replica *shards.Replica
	peers   *peers.Peers
	reach   *reach
	log     logr.Logger
}

// CoordinatorOptions configure a Coordinator.
type CoordinatorOptions struct {
	// Client reads and writes Leases.
	Client client.Client
	// Namespace holds the Leases. It must exist.
	Namespace string
	// Replica is the name of this replica, unique among the running replicas.
	Replica string
	// LeaseDuration is the longest time until the shards of a replica that was killed have another owner. The Leases last
	// less.
	LeaseDuration time.Duration
	// Peers sends and answers pings, so that a replica that was killed is noticed before its Lease ends. Nil disables
	// pings.
	Peers *peers.Peers
	// Clock is for the Leases.
	Clock clock.WithDelayedExecution
	// Log gets the shards that this replica acquires and loses.
	Log logr.Logger
}

// NewCoordinator creates the coordinator of a provider.
func NewCoordinator(provider *Provider, options CoordinatorOptions) *Coordinator {
	asked := &reach{root: provider.root, clock: options.Clock, after: options.LeaseDuration}
	o := shards.Options{
		Client: options.Client, Namespace: options.Namespace, Name: options.Replica, LeaseDuration: options.LeaseDuration,
		Count: provider.options.Shards, Own: provider.own, Reach: asked.state, Clock: options.Clock, Log: options.Log,
	}
	if options.Peers != nil {
		o.Peers = options.Peers
	}
	replica := shards.New(o)
	provider.replica.Store(replica)
	return &Coordinator{Coordinator: provider.controllers, replica: replica, peers: options.Peers, reach: asked, log: options.Log}
}

// Runnable shares the shards as long as it runs.
func (c *Coordinator) Runnable() manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		asking, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { c.reach.run(asking) })
		if c.peers != nil {
			running.Go(func() {
				if err := c.peers.Serve(asking, c.replica.Hear); err != nil {
					c.log.Error(err, "This replica answers no pings; its shards are taken over later if it is killed")
				}
			})
		}
		err := c.replica.Run(ctx)
		stop()
		running.Wait()
		return err
	})
}

// own starts the ownership of a shard. It ends with ctx.
func (p *Provider) own(ctx context.Context, shard int) {
	// An empty name stands for every project.
	defer p.notify("")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owned[shard] = ctx //nolint:fatcontext // the context is the ownership: it ends when the shard goes to another replica.
	p.decideShard(shard)
	context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.owned[shard] == ctx {
			delete(p.owned, shard)
			p.decideShard(shard)
		}
	})
}

// decideShard calls decide for every project of a shard. p.mu is held.
func (p *Provider) decideShard(shard int) {
	for project := range p.known {
		if p.shardOf(project) != shard {
			continue
		}
		// An engagement of an earlier ownership has ended with its context.
		if current := p.projects[project]; current != nil {
			p.disengage(project, current)
		}
		p.decide(project)
	}
}

// shardOf is the shard of a project.
func (p *Provider) shardOf(project string) int {
	return naming.ProjectKey(project).Shard(p.options.Shards)
}

// reach periodically asks Milo's root, to find out whether it answers this replica. It is safe for concurrent use.
//
// When Milo fails for all replicas, none of them may take that for its own fault. So a replica that gets no more
// answers reports that within two fifths of the time after which another replica may leave its shards to it.
type reach struct {
	root  client.Reader
	clock clock.WithDelayedExecution
	// after is how long all answers must have been missing, or present, before the change counts.
	after time.Duration

	mu sync.Mutex
	// asked reports that a question was sent, answered that the last one was answered, and changed that the last two had
	// different results.
	asked, answered, changed bool
	// since is when the first of the last questions was over that ended alike.
	since time.Time
}

// run asks until ctx ends.
func (r *reach) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := r.after / 5
		if !r.ask(ctx) {
			wait = r.after / 15
		}
		timer := r.clock.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		timer.Stop()
	}
}

// ask sends one question.
func (r *reach) ask(ctx context.Context) (answered bool) {
	bounded, cancel := context.WithTimeout(ctx, r.after/5)
	defer cancel()
	_, _, err := getProject(bounded, r.root, probeProject)
	answered = err == nil
	if ctx.Err() != nil {
		return answered
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked || answered != r.answered {
		r.changed, r.since = r.asked, r.clock.Now()
	}
	r.asked, r.answered = true, answered
	return answered
}

// state is the result of the questions so far. It counts at once for a process that has never had another result.
func (r *reach) state() shards.Reach {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.asked || r.changed && r.clock.Now().Sub(r.since) < r.after:
		return shards.Doubtful
	case r.answered:
		return shards.Reached
	default:
		return shards.Unreached
	}
}
