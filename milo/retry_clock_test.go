// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// waitingClock is a fake clock that reports what is waited for.
type waitingClock struct {
	*clocktesting.FakeClock
	waits chan time.Duration
}

// After reports the duration when it is waited for.
func (c waitingClock) After(d time.Duration) <-chan time.Time {
	after := c.FakeClock.After(d)
	c.waits <- d
	return after
}

// refusing is a controller that cannot be engaged the first time.
type refusing struct{ asked atomic.Int32 }

func (r *refusing) Engage(context.Context, multicluster.ClusterName, cluster.Cluster) error {
	if r.asked.Add(1) == 1 {
		return errors.New("not now")
	}
	return nil
}

// TestEngagementIsRetriedByTheClock: the time between two attempts passes on the provider's clock.
func TestEngagementIsRetriedByTheClock(t *testing.T) {
	t.Parallel()
	clock := waitingClock{FakeClock: clocktesting.NewFakeClock(time.Unix(1e9, 0)), waits: make(chan time.Duration, 10)}
	p := newTestProviderWith(t, func(o *ProviderOptions) { o.Clock = clock })
	controller := &refusing{}
	p.controllers.AddAware(controller)
	p.own(t.Context(), naming.ProjectKey("north").Shard(4))
	p.Observe(readyProject("north", "1"))

	select {
	case waited := <-clock.waits:
		if waited != engageRetry {
			t.Errorf("it waits for %s, want %s", waited, engageRetry)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not wait by its clock")
	}
	clock.Step(engageRetry - 1)
	if asked := controller.asked.Load(); asked != 1 || isEngaged(p, "north") {
		t.Errorf("it has tried %d times before the time has passed", asked)
	}
	clock.Step(1)
	eventually(t, "engaged", func() bool { return isEngaged(p, "north") && controller.asked.Load() == 2 })
}
