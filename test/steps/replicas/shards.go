// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// shardCount is the default of --shards.
const shardCount = 16

// shardOwners holds the shards of each replica, by their record.
type shardOwners map[string][]int

func (d shardOwners) count() int {
	count := 0
	for _, shards := range d {
		count += len(shards)
	}
	return count
}

func (s Steps) shards(ctx context.Context) (shardOwners, error) {
	var lease coordinationv1.Lease
	if err := s.Client("hub", world.Admin).Get(ctx, client.ObjectKey{
		Namespace: "karmada-system", Name: v1alpha.LeaseShards,
	}, &lease); err != nil {
		return nil, err
	}
	found := shardOwners{}
	return found, json.Unmarshal([]byte(lease.Annotations[v1alpha.AnnotationShards]), &found)
}

// hasEveryShard waits until a replica has every project.
func (s Steps) hasEveryShard(ctx context.Context, replica int) error {
	name, err := s.AddOn.ReplicaName(replica)
	if err != nil {
		return err
	}
	return world.Eventually(ctx, func(ctx context.Context) error {
		owners, err := s.shards(ctx)
		if err != nil {
			return err
		}
		if len(owners[name]) != shardCount {
			return fmt.Errorf("replica %d has not every shard: they are %v", replica, owners)
		}
		return nil
	})
}

// takeShards repeatedly assigns all shards to a holder that does not exist and renews no Lease.
func (s Steps) takeShards(ctx context.Context, replica, times int, every time.Duration) error {
	hub := s.Client("hub", world.Admin)
	const somebody = "somebody-else"
	all := shardOwners{}
	for shard := range shardCount {
		all[somebody] = append(all[somebody], shard)
	}
	taken, err := json.Marshal(all)
	if err != nil {
		return err
	}
	for range times {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-system", Name: "karmada-compute-replica-" + somebody}}
		if err := client.IgnoreNotFound(hub.Delete(ctx, lease)); err != nil {
			return err
		}
		lease.Labels = map[string]string{v1alpha.AnnotationShards: ""}
		lease.Spec = coordinationv1.LeaseSpec{
			HolderIdentity: new(somebody), LeaseDurationSeconds: new(int32(every.Seconds())), RenewTime: new(metav1.NowMicro()),
		}
		if err := hub.Create(ctx, lease); err != nil {
			return err
		}
		record := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-system", Name: v1alpha.LeaseShards}}
		if err := world.UpdateWhenFree(ctx, hub, record,
			func(record *coordinationv1.Lease) { record.Annotations[v1alpha.AnnotationShards] = string(taken) }); err != nil {
			return err
		}
		if err := world.Pause(ctx, every); err != nil {
			return err
		}
	}
	return s.hasEveryShard(ctx, replica)
}

// tookOver waits until every shard has an owner that was not killed, and reports the duration.
func (s Steps) tookOver(ctx context.Context) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		owners, err := s.shards(ctx)
		if err != nil {
			return err
		}
		if len(owners[s.state().killed.name]) > 0 || owners.count() != shardCount {
			return fmt.Errorf("nobody has taken all shards over from %s: they are %v", s.state().killed.name, owners)
		}
		fmt.Fprintf(s.Out, "the shards of a killed replica had other owners after %s\n",
			time.Since(s.state().killed.at).Round(100*time.Millisecond))
		return nil
	})
}
