// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestBindingsWithAFault: networks are bound, exchanged with the template and released, whichever write fails.
func TestBindingsWithAFault(t *testing.T) {
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		b := newBinding(t)
		b.serve()
		b.Project.Through(faults)
		bound := func(name string) {
			t.Helper()
			faults.Reconcile(t, func() error { _, err := b.binder.Bind(t.Context(), b.project(), b.deployment); return err })
			b.answer(name, metav1.ConditionTrue)
			b.bind(true, "")
		}
		bound("default@dfw-1")
		b.deployment.Spec.Template.Spec.NetworkInterfaces[0].Network.Name = "second"
		bound("second@dfw-1")
		faults.Reconcile(t, func() error { return b.binder.Trim(t.Context(), b.project(), b.deployment) })
		if stored := b.stored(); len(stored) != 1 || stored["second@dfw-1"] == nil {
			t.Errorf("after the rollout there are %v", stored)
		}
		// The earlier network is bound again: that it was Ready is forgotten with its binding.
		b.deployment.Spec.Template.Spec.NetworkInterfaces[0].Network.Name = "default"
		faults.Reconcile(t, func() error { _, err := b.binder.Bind(t.Context(), b.project(), b.deployment); return err })
		if b.stored()["default@dfw-1"] == nil {
			t.Error("a binding that was released is taken for Ready")
		}
		faults.Reconcile(t, func() error { return b.binder.Release(t.Context(), b.project(), b.deployment) })
		if stored := b.stored(); len(stored) != 0 {
			t.Errorf("in the end there are %v", stored)
		}
	})
}
