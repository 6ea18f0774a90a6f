// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestPropagationWithAFault: a deployment gets its objects on the hub, changes and ends, whichever write fails.
func TestPropagationWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		f.Project.Through(faults)
		f.Hub.Through(faults)
		settle := func() {
			t.Helper()
			for range 4 {
				faults.Reconcile(t, func() error { _, err := f.reconcile(t); return err })
				f.clock.SetTime(f.clock.Now().Add(time.Minute))
			}
		}
		all := []client.Object{f.namespace(), f.work(), f.policy(), f.copied()}
		settle()
		for _, object := range all {
			if !planes.Exists(t, f.Planes, object) {
				t.Errorf("the hub lacks %T", object)
			}
		}
		const changed = "registry.example/app:2"
		planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = changed
		})
		settle()
		if image := read(t, f, f.copied()).Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image; image != changed {
			t.Errorf("the copy has image %s", image)
		}
		f.Hub.Calls()
		f.Project.Calls()
		settle()
		if writes := append(f.Hub.Writes(), f.Project.Writes()...); len(writes) > 0 {
			t.Errorf("when all is propagated, it writes %v", writes)
		}
		planes.Delete(t, f.Planes, f.original)
		settle()
		end(t, f, f.work())
		settle()
		for _, object := range []client.Object{f.work(), f.copied(), f.original} {
			if planes.Exists(t, f.Planes, object) {
				t.Errorf("after the deletion there is %T", object)
			}
		}
	})
}
