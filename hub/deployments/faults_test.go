// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"
	"testing"
	"time"

	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// settleWith reconciles until the writes of the reconciler have had their events, and time has passed.
func (f *fixture) settleWith(t *testing.T, faults *testenv.Faults) {
	t.Helper()
	for range 4 {
		faults.Reconcile(t, func() error {
			_, err := f.reconciler.Reconcile(t.Context(), f.request())
			return err
		})
		f.clock.SetTime(f.clock.Now().Add(time.Minute))
	}
}

// TestWorkloadWithAFault: a Workload gets its deployments, finalizer, history and status, rolls a template out and is
// deleted, whichever write fails.
func TestWorkloadWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t, "DFW ORD")
		f.reconciler.Passing = pace.NewWrites[mcreconcile.Request](f.clock)
		f.Project.Through(faults)
		workload := f.workload(t, "main DFW ORD")
		f.settleWith(t, faults)
		stored := f.readWorkload(t)
		if f.names(t) != "web-main-dfw web-main-ord" || !slices.Contains(stored.Finalizers, v1alpha.FinalizerWorkload) ||
			len(f.revisions(t)) != 1 {
			t.Fatalf("there are %s, finalizers %v, revisions %v", f.names(t), stored.Finalizers, f.revisions(t))
		}
		if status := stored.Status; status.ObservedGeneration != stored.Generation || status.Rollout == nil || status.Rollout.Revision != 1 {
			t.Errorf("the status is %+v", status)
		}

		f.image(t, "registry.example/app:2")
		f.settleWith(t, faults)
		if got := f.revisions(t); !slices.Equal(got, []int64{1, 2}) || f.readWorkload(t).Status.Rollout.Revision != 2 {
			t.Errorf("after the change it has revisions %v, and shows %+v", got, f.readWorkload(t).Status.Rollout)
		}
		f.Project.Calls()
		f.settleWith(t, faults)
		if writes := f.Project.Writes(); faults.Failed() == "" && len(writes) > 0 {
			t.Errorf("when all is written, it writes %v", writes)
		}

		planes.Delete(t, f.Planes, workload)
		f.settleWith(t, faults)
		f.withdraw(t)
		f.settleWith(t, faults)
		if planes.Exists(t, f.Planes, workload) || f.names(t) != "" {
			t.Errorf("after its deletion there are %s, and the Workload: %t", f.names(t), planes.Exists(t, f.Planes, workload))
		}
	})
}

// TestDrainWithAFault: the Instances of a city that is removed run for drainSeconds, no shorter and no longer, whichever
// write fails.
func TestDrainWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f, workload := newServing(t, nil)
		f.Project.Through(faults)
		after := func(d time.Duration) {
			t.Helper()
			f.clock.SetTime(f.clock.Now().Add(d))
			for range 2 {
				faults.Reconcile(t, func() error {
					_, err := f.reconciler.Reconcile(t.Context(), f.request())
					return err
				})
			}
		}
		planes.Change(t, f.Planes, workload, inCities("DFW"))
		after(0)
		f.wantEndpoints(t, "DFW, ORD "+v1alpha.EndpointLeaving)
		after(29 * time.Second)
		if f.leaving(t, "web-main-ord") {
			t.Fatal("the Instances stop before the traffic has left")
		}
		after(time.Second)
		if !f.leaving(t, "web-main-ord") || f.leaving(t, "web-main-dfw") {
			t.Errorf("after the drain there are %s", f.names(t))
		}
		f.wantEndpoints(t, "DFW")
	})
}
