// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// formerPrefix begins the names of the Leases of shards that versions before 0028-leases.md had.
const formerPrefix = "karmada-compute-shard-"

// former are the replicas of versions that had a Lease for each shard. They do not know the record.
type former struct {
	seen sightings
	// gone says that none runs, and that nothing is left of them.
	gone bool
}

// formerGone says whether no replica of a former version runs. Until then this one takes no shard: a rolling update hands all over at
// once, when the last of them stops. What they left is removed.
func (r *Replica) formerGone(ctx context.Context) (bool, error) {
	if r.former.gone {
		return true, nil
	}
	bounded, cancel := context.WithTimeout(ctx, r.at.request)
	defer cancel()
	asked := r.now()
	var leases coordinationv1.LeaseList
	if err := r.options.Client.List(bounded, &leases, client.InNamespace(r.options.Namespace)); err != nil {
		return false, fmt.Errorf("list all Leases: %w", err)
	}
	v, left := view{replicas: map[string]*coordinationv1.Lease{}}, []*coordinationv1.Lease{}
	for i := range leases.Items {
		lease := &leases.Items[i]
		_, ours := lease.Labels[annotationDivision]
		replica, isReplica := strings.CutPrefix(lease.Name, leasePrefix)
		switch {
		case ours:
		case isReplica:
			v.replicas[replica] = lease
			left = append(left, lease)
		case strings.HasPrefix(lease.Name, formerPrefix):
			left = append(left, lease)
		}
	}
	r.former.seen.update(v, r.now(), r.at.lease)
	if running := r.former.seen.running(asked); len(running) > 0 {
		r.options.Log.V(1).Info("Replicas of a former version run; no shard is taken", "replicas", running)
		return false, nil
	}
	for _, lease := range left {
		unchanged := client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}
		if err := client.IgnoreNotFound(r.options.Client.Delete(bounded, lease, unchanged)); err != nil {
			return false, fmt.Errorf("delete Lease %s: %w", lease.Name, err)
		}
	}
	r.former.gone = true
	return true, nil
}
