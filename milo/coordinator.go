// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/sharded"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Coordinator shares the projects among replicas: multicluster-runtime's sharded coordinator gets a fixed number of shards,
// and the Provider engages the projects of the shards that this replica owns.
//
// With the projects themselves instead of shards it would renew a Lease per project every few seconds, and projects would
// share contexts (docs/decisions/0004-sharding.md).
type Coordinator struct {
	*sharded.Coordinator
	provider *Provider
}

// CoordinatorOptions configure a Coordinator.
type CoordinatorOptions struct {
	// Client reads and writes Leases.
	Client client.Client
	// Namespace holds the Leases. It must exist.
	Namespace string
	// Replica is the name of this replica, unique among those that run.
	Replica string
	// LeaseDuration is the longest time until the shards of a replica that was killed have another owner. The Leases last less.
	LeaseDuration time.Duration
	// Clock is for the Leases of replicas.
	Clock clock.WithTicker
	// Log gets the shards that this replica acquires and loses.
	Log logr.Logger
}

// Prefixes of the names of Leases.
const (
	shardLeasePrefix = "karmada-compute-shard"
	peerLeasePrefix  = "karmada-compute-replica"
)

// NewCoordinator makes the coordinator of a provider.
func NewCoordinator(provider *Provider, options CoordinatorOptions) *Coordinator {
	at := timingsFor(options.LeaseDuration)
	c := &Coordinator{
		Coordinator: sharded.New(options.Client, options.Log,
			sharded.WithShardLease(options.Namespace, shardLeasePrefix),
			sharded.WithPerClusterLease(true),
			sharded.WithLeaseTimings(at.shard, at.shardRenewal, at.shardRetry),
			sharded.WithSynchronizationIntervals(at.decision, 0),
			sharded.WithPeerRegistry(newPeers(options)),
		),
		provider: provider,
	}
	c.Coordinator.AddAware(shards{provider})
	return c
}

// AddAware adds a controller, which is engaged with each project of the shards that this replica owns.
func (c *Coordinator) AddAware(aware multicluster.Aware) {
	c.provider.mu.Lock()
	defer c.provider.mu.Unlock()
	c.provider.awares = append(c.provider.awares, aware)
}

// shards is engaged by the sharded coordinator with the shards that this replica owns.
type shards struct{ provider *Provider }

// Engage starts the ownership of a shard. It ends with ctx.
func (s shards) Engage(ctx context.Context, shard multicluster.ClusterName, _ cluster.Cluster) error {
	p := s.provider
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
	return nil
}

// decideShard calls decide for every project of a shard. p.mu is held.
func (p *Provider) decideShard(shard multicluster.ClusterName) {
	for project := range p.known {
		if shardOf(project, p.options.Shards) != shard {
			continue
		}
		// An engagement of an earlier ownership has ended with its context.
		if current := p.projects[project]; current != nil {
			current.cancel()
			delete(p.projects, project)
		}
		p.decide(project)
	}
}

func shardNames(count int) []multicluster.ClusterName {
	names := make([]multicluster.ClusterName, count)
	for i := range names {
		names[i] = shardName(i)
	}
	return names
}

func shardName(i int) multicluster.ClusterName {
	return multicluster.ClusterName(fmt.Sprintf("%03d", i))
}

// shardOf is the shard of a project. It is the same on every replica with the same number of shards.
func shardOf(project string, count int) multicluster.ClusterName {
	return shardName(v1alpha.ProjectShard(project, count))
}
