// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// settleWith reconciles the deployment and its first slice until time has passed.
func (f *fixture) settleWith(t *testing.T, faults *testenv.Faults) {
	t.Helper()
	slice := f.request()
	slice.Name = naming.SliceName("web", 0)
	for range 2 {
		faults.Reconcile(t, func() error { return f.reconcile(t) })
		faults.Reconcile(t, func() error {
			_, err := f.reconciler.ReconcileSlice(t.Context(), slice)
			return err
		})
		f.clock.SetTime(f.clock.Now().Add(time.Minute))
	}
}

// TestProjectionWithAFault: Instances in the status and in a slice are shown, change and end, whichever write fails.
func TestProjectionWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		f.reconciler.Passing = pace.NewWrites[mcreconcile.Request](f.clock)
		f.Project.Through(faults)
		f.sliced(t, 20)
		f.report(t, f.instances(t, 0, 1)...)
		f.reportSlice(t, 0, 1, f.instances(t, 16, 17)...)
		f.settleWith(t, faults)
		for _, name := range []string{"web-0", "web-1", "web-16", "web-17"} {
			if !f.exists(t, name) || !meta.IsStatusConditionTrue(f.readInstance(t, name).Status.Conditions, v1alpha.ConditionReady) {
				t.Errorf("Instance %s is not shown as Ready", name)
			}
		}
		if got := f.readOriginal(t).Status.ReadyReplicas; got != 2 {
			t.Errorf("%d Instances are counted as Ready", got)
		}

		failing := instance("web-0", f.hash, metav1.ConditionFalse)
		f.report(t, failing)
		f.reportSlice(t, 0, 1, f.instances(t, 16)...)
		f.settleWith(t, faults)
		if f.exists(t, "web-1") || f.exists(t, "web-17") || f.readOriginal(t).Status.Replicas != 1 {
			t.Errorf("Instances that are not reported any more are shown: %t, %t", f.exists(t, "web-1"), f.exists(t, "web-17"))
		}
		if meta.IsStatusConditionTrue(f.readInstance(t, "web-0").Status.Conditions, v1alpha.ConditionReady) {
			t.Error("the Instance is still shown as Ready")
		}
		f.Project.Calls()
		f.settleWith(t, faults)
		if writes := f.Project.Writes(); len(writes) > 0 {
			t.Errorf("when all is shown, it writes %v", writes)
		}
	})
}
