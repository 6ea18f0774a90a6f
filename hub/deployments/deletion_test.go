// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func (f *fixture) letDeploymentGo(t *testing.T, name string) {
	t.Helper()
	planes.Change(t, f.Planes, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) { d.Finalizers = nil })
}

// TestDeletion: the deployments are deleted first, each once, and the Workload with the last of them.
func TestDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	workload := f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	planes.Delete(t, f.Planes, workload)

	if writes := f.mustReconcile(t); len(writes) != 2 {
		t.Errorf("writes are %v, want two deletions", writes)
	}
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		if f.readDeployment(t, name).DeletionTimestamp.IsZero() {
			t.Errorf("%s is not deleted", name)
		}
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("while the deployments end it writes %v", writes)
	}
	f.letDeploymentGo(t, "web-main-dfw")
	f.mustReconcile(t)
	if !planes.Exists(t, f.Planes, workload) {
		t.Error("the Workload is gone before its last deployment")
	}
	f.letDeploymentGo(t, "web-main-ord")
	f.mustReconcile(t)
	if planes.Exists(t, f.Planes, workload) {
		t.Error("the Workload stays without a deployment")
	}
}

func TestDeletionMakesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Finalizers = []string{"example.com/theirs"} })
	planes.Delete(t, f.Planes, workload)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("for a Workload that is being deleted it writes %v", writes)
	}
}

// TestAWorkloadChangesWhileItsFinalizerIsRemoved: the finalizer is removed only from the newest version.
func TestAWorkloadChangesWhileItsFinalizerIsRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Finalizers = append(w.Finalizers, "example.com/theirs") })
	planes.Delete(t, f.Planes, workload)
	f.mustReconcile(t)
	f.withdraw(t)
	f.Project.Once("patch", "Workload", func() error {
		planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Labels = map[string]string{"changed": "meanwhile"} })
		return nil
	})
	if err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if got := f.readWorkload(t).Finalizers; len(got) != 2 {
		t.Errorf("finalizers are %v", got)
	}
	f.mustReconcile(t)
	if got := f.readWorkload(t).Finalizers; len(got) != 1 || got[0] != "example.com/theirs" {
		t.Errorf("finalizers are %v", got)
	}
}
