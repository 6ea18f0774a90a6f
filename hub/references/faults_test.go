// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestCopiesWithAFault: data is copied, changes and ends with its original, whichever write fails.
func TestCopiesWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t).engage(t)
		f.Project.Through(faults)
		f.Hub.Through(faults)
		settle := func() {
			t.Helper()
			for range 2 {
				faults.Reconcile(t, func() error { _, err := f.reconcile(t); return err })
				f.sync(t)
			}
		}
		app := planes.Create(t, f.Planes, f.app())
		planes.Create(t, f.Planes, f.database())
		f.deploy(t, "web", templateNaming([]string{"app"}, []string{"database"}))
		settle()
		if !f.isOnHub(t, f.app()) || !f.isOnHub(t, f.database()) {
			t.Fatal("the hub lacks the data")
		}
		f.await(t, app)
		planes.Change(t, f.Planes, app, func(m *corev1.ConfigMap) { m.Data["colour"] = "red" })
		f.await(t, app)
		settle()
		if got := f.appOnHub(t).Data["colour"]; got != "red" {
			t.Errorf("the copy has %s", got)
		}
		f.Hub.Calls()
		f.Project.Calls()
		settle()
		if writes := append(f.Hub.Writes(), f.Project.Writes()...); len(writes) > 0 {
			t.Errorf("when all is copied, it writes %v", writes)
		}
		planes.Delete(t, f.Planes, app)
		f.await(t, app)
		settle()
		if f.isOnHub(t, f.app()) || !f.isOnHub(t, f.database()) {
			t.Error("not exactly the copy without an original is deleted")
		}
	})
}

// TestSnapshotsWithAFault: a content is kept before the Workload names it, and replaced by the next one, whichever write
// fails.
func TestSnapshotsWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t).engage(t)
		settle := func(want ...string) {
			t.Helper()
			for range 2 {
				faults.Reconcile(t, func() error { _, err := f.reconcile(t); return err })
				f.sync(t)
			}
			if got := f.snapshots(t); !slices.Equal(got, want) {
				t.Fatalf("on the hub are %v, want %v", got, want)
			}
		}
		planes.Create(t, f.Planes, f.app())
		f.rolling(t, []string{"app"}, nil)
		f.Project.Through(faults)
		f.Hub.Through(faults)
		settle()
		f.started(t)
		settle("blue")
		before := f.web(t).Status.Data.Objects[0]
		f.writes(t, "red")
		settle("blue", "red")
		if after := f.web(t).Status.Data.Objects[0]; after == before {
			t.Errorf("the Workload is still started with %v", after)
		}
		f.started(t)
		settle("blue", "red")
		f.Hub.Calls()
		f.Project.Calls()
		settle("blue", "red")
		if writes := append(f.Hub.Writes(), f.Project.Writes()...); len(writes) > 0 {
			t.Errorf("when all is kept, it writes %v", writes)
		}
		f.forget(t, 1)
		settle("red")
	})
}
