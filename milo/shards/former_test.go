// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestFormerVersion: while a replica of a former version renews its Lease, this one takes no shard. When it is gone, this one
// takes all and removes what was left, but no Lease of others.
func TestFormerVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 4, usual)
		leases := map[string]*coordinationv1.Lease{}
		for _, name := range []string{"karmada-compute-replica-old", "karmada-compute-shard-000", "karmada-scheduler"} {
			lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: new(int32(10))}}
			lease.Namespace, lease.Name, lease.Labels = namespace, name, map[string]string{"mcr.sigs.k8s.io/peer": "true"}
			if err := w.hub.Create(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			leases[name] = lease
		}
		s := w.start("new")
		for range 10 {
			<-time.After(3 * time.Second)
			if err := w.hub.Update(t.Context(), leases["karmada-compute-replica-old"]); err != nil {
				t.Fatal(err)
			}
			if owned := s.replica.fence.shards(); len(owned) > 0 {
				t.Fatalf("it has %v", owned)
			}
		}
		if took := w.settled(15 * time.Second); took < 9*time.Second {
			t.Errorf("taken over after %s: the Lease cannot have ended", took)
		}
		for name, lease := range leases {
			err := w.hub.Get(t.Context(), client.ObjectKeyFromObject(lease), lease)
			if left := err == nil; left != (name == "karmada-scheduler") {
				t.Errorf("Lease %s is left: %t, %v", name, left, err)
			}
		}
		w.verdict()
	})
}
