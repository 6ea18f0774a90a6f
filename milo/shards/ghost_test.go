// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// haunt keeps the Lease of a replica that does not run, as whoever may write Leases can.
func (w *world) haunt(name string, annotations map[string]string) {
	w.t.Helper()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: leasePrefix + name, Labels: labels, Annotations: annotations},
		// 63 years.
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: new(int32(2_000_000_000))},
	}
	ctx := w.t.Context()
	w.requests.Go(func() {
		for ctx.Err() == nil {
			renewed := lease.DeepCopy()
			renewed.UID = uuid.NewUUID()
			if err := w.hub.Create(ctx, renewed); apierrors.IsAlreadyExists(err) {
				if err := w.hub.Get(ctx, client.ObjectKeyFromObject(lease), renewed); err == nil {
					renewed.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
					_ = w.hub.Update(ctx, renewed)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(4 * time.Second):
			}
		}
	})
}

// TestGhosts: Leases of replicas that do not run, whatever they say, take no shard from replicas that run, and delay no
// takeover.
func TestGhosts(t *testing.T) {
	for name, annotations := range map[string]map[string]string{
		"silent":               nil,
		"with an endpoint":     {annotationEndpoint: "nowhere", annotationProcess: "none"},
		"that reach Milo":      {annotationReach: reached},
		"that asks all others": {annotationAskedBy: "replica-0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 16, usual)
				w.settle(2)
				for i := range 5 {
					w.haunt(fmt.Sprintf("ghost-%d", i), annotations)
				}
				<-time.After(20 * time.Second)
				if counts, err := w.division(); err != nil || counts["replica-0"] != 8 {
					t.Errorf("beside ghosts the division is %v, %v", counts, err)
				}
				w.replicas[0].kill()
				if took := w.settled(20 * time.Second); took > 4500*time.Millisecond {
					t.Errorf("taken over after %s", took)
				}
				w.start("replica-2")
				w.settled(20 * time.Second)
				w.verdict()
			})
		})
	}
}
