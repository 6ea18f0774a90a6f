// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"testing"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/ownership"
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

// TestAnAnswerWhoseRecordIsNotRemoved: Milo has the project after all, and the record of its earlier answers cannot be
// removed. They are not in a row with later ones.
func TestAnAnswerWhoseRecordIsNotRemoved(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	f.doubt(t)
	f.roster.exists = oldUID
	f.Hub.Before(func(call planes.Call) error {
		if call.Verb == "patch" && call.Kind == "Namespace" {
			return testenv.ErrFault
		}
		return nil
	})
	request := reconcile.Request{NamespacedName: types.NamespacedName{Name: f.HubNamespace}}
	if _, err := f.reconciler.Reconcile(t.Context(), request); !errors.Is(err, testenv.ErrFault) {
		t.Fatalf("the removal of the record has answer %v", err)
	}
	f.Hub.Before(nil)
	f.roster.exists = ""
	for range ownership.AnswersNeeded - 1 {
		f.clock.SetTime(f.clock.Now().Add(f.reconcile(t)))
		if f.isDeleted(t, f.copied) {
			t.Fatal("it is withdrawn although Milo had the project between two answers")
		}
	}
}
