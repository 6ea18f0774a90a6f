// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"testing"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestRepairWithAFault: a binding of an earlier copy is adopted, and a leftover one deleted, whichever write fails: the
// history of repairs and the ages of findings are as if the repair had been tried.
func TestRepairWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newDeploymentsFixture(t)
		f.Hub.Through(faults)
		settle := func() {
			t.Helper()
			for range 6 {
				faults.Reconcile(t, func() error {
					_, err := f.reconciler.Reconcile(t.Context(), f.request())
					return err
				})
				f.pass(after)
			}
		}
		planes.Change(t, f.Planes, f.binding(t), func(b *workv1alpha2.ResourceBinding) { b.Spec.Resource.UID = "earlier" })
		settle()
		if of := f.binding(t).Spec.Resource.UID; of != f.copied.UID {
			t.Errorf("the binding is of %s", of)
		}
		f.Hub.Calls()
		f.pass(time.Hour)
		settle()
		if writes := f.Hub.Writes(); len(writes) > 0 {
			t.Errorf("when all is repaired, it writes %v", writes)
		}

		f.remove(t)
		settle()
		if planes.Exists(t, f.Planes, planes.BindingOf(f.copied)) {
			t.Error("the leftover binding stays")
		}
	})
}
