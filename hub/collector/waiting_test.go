// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"testing"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// refuse plays Karmada's scheduler, which finds no capacity for more Instances.
func (f *deploymentsFixture) refuse(t *testing.T) {
	t.Helper()
	planes.ChangeStatus(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
		b.Status.Conditions = []metav1.Condition{{
			Type: workv1alpha2.Scheduled, Status: metav1.ConditionFalse, Reason: workv1alpha2.BindingReasonUnschedulable,
			Message: "0/1 clusters are available", LastTransitionTime: metav1.NewTime(f.clock.Now()),
		}}
	})
}

// grow plays the Cluster of a city, which gets more capacity, and returns how many deployments wait for it.
func (f *deploymentsFixture) grow(t *testing.T, city string) int {
	t.Helper()
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request](),
		workqueue.TypedRateLimitingQueueConfig[mcreconcile.Request]{Clock: testingclock.NewFakeClock(f.clock.Now())})
	defer q.ShutDown()
	f.reconciler.capacityIn(t.Context(), city, q)
	return len(f.reconciler.waits.waiting)
}

// TestWaitingForCapacity: a deployment that found no capacity is scheduled again once after each growth of its city, and what
// runs is not touched.
func TestWaitingForCapacity(t *testing.T) {
	f := newDeploymentsFixture(t)
	city := naming.CityLabel(f.copied.Spec.CityCode)
	f.pass(time.Minute)
	f.refuse(t)
	before := f.binding(t)
	wantTries := func(what string, want int64) {
		t.Helper()
		if _, writes := f.audit(t); int64(len(writes)) != want {
			t.Errorf("%s: %v", what, writes)
		}
		after := f.binding(t)
		if after.Generation != before.Generation+want || len(after.Spec.Clusters) != len(before.Spec.Clusters) {
			t.Errorf("%s: generation %d after %d, cells %v", what, after.Generation, before.Generation, after.Spec.Clusters)
		}
		before = after
	}
	wantTries("at the refusal", 0)
	f.pass(time.Minute)
	wantTries("without more capacity", 0)
	f.grow(t, "elsewhere")
	wantTries("more capacity in another city", 0)
	f.grow(t, city)
	wantTries("more capacity", 1)
	wantTries("the same capacity again", 0)
	f.pass(time.Second)
	f.grow(t, city)
	wantTries("still more capacity", 1)

	f.settle(t)
	planes.ChangeStatus(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) {
		b.Status.Conditions[0].Status = metav1.ConditionTrue
	})
	f.audit(t)
	if left := f.grow(t, city); left > 0 {
		t.Errorf("%d deployments wait that have capacity", left)
	}
}

// TestWaitingWithAFault: a try whose write fails is repeated, whichever write fails, and one that has succeeded is not.
func TestWaitingWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newDeploymentsFixture(t)
		f.pass(time.Minute)
		f.refuse(t)
		f.pass(time.Minute)
		f.audit(t)
		f.Hub.Through(faults)
		f.grow(t, naming.CityLabel(f.copied.Spec.CityCode))
		before := f.binding(t).Generation
		for range 3 {
			faults.Reconcile(t, func() error {
				_, err := f.reconciler.Reconcile(t.Context(), f.request())
				return err
			})
		}
		if tries := f.binding(t).Generation - before; tries < 1 || faults.Failed() == "" && tries != 1 {
			t.Errorf("it is scheduled again %d times", tries)
		}
	})
}

// TestWaitingInAnEarlierReplica: a replica that starts does not know what it has missed, and tries once.
func TestWaitingInAnEarlierReplica(t *testing.T) {
	f := newDeploymentsFixture(t)
	f.refuse(t)
	f.pass(time.Minute)
	f.reconciler.waits = newWaits(f.clock)
	for want := 1; want >= 0; want-- {
		if _, writes := f.audit(t); len(writes) != want {
			t.Errorf("it writes %v, want %d", writes, want)
		}
	}
}

// TestTriesAreShared: a project with thousands of deployments that wait delays no other project.
func TestTriesAreShared(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Now())
	r := newWaits(clock)
	tries := map[string]int{}
	for range 60 {
		for range 500 {
			if r.budget.Take("large") == 0 {
				tries["large"]++
			}
		}
		if r.budget.Take("small") == 0 {
			tries["small"]++
		}
		clock.SetTime(clock.Now().Add(time.Second))
	}
	if tries["small"] < 55 || tries["large"] > triesAtOnce+60*triesPerSecond {
		t.Errorf("tries in a minute: %v", tries)
	}
}

// TestCitiesAreBounded: an agent may write any city on its Cluster, and each that grows is remembered.
func TestCitiesAreBounded(t *testing.T) {
	waits := newWaits(testingclock.NewFakeClock(time.Unix(1000, 0)))
	for n := range 2 * mostCities {
		waits.grow(fmt.Sprintf("city-%d", n))
	}
	if got := waits.grown.Len(); got != mostCities {
		t.Errorf("%d cities are in memory", got)
	}
}
