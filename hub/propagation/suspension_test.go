// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"testing"

	"k8s.io/client-go/util/workqueue"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestSuspension: the copy shows whether the project is suspended, in spite of other writers, and settles.
func TestSuspension(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	assigned := read(t, f, f.copied()).Spec.Assignment
	for _, suspended := range []bool{true, false} {
		f.suspended.suspended = suspended
		for range 2 {
			f.mustReconcile(t, "web")
			copied := read(t, f, f.copied())
			if copied.Spec.Suspended != suspended || len(naming.Assigned(copied.Spec.Assignment,
				f.cell.Name)) != len(naming.Assigned(assigned, f.cell.Name)) {
				t.Errorf("the copy of a project whose suspension is %t: %+v", suspended, copied.Spec)
			}
			if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
			planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { d.Spec.Suspended = !suspended })
		}
	}
	if f.readOriginal(t).Spec.Suspended {
		t.Error("the original was changed")
	}
}

// TestADeploymentOfASuspendedProject arrives suspended, and leaves as any other does.
func TestADeploymentOfASuspendedProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.suspended.suspended = true
	f.mustReconcile(t, "web")
	if !read(t, f, f.copied()).Spec.Suspended {
		t.Error("the copy starts")
	}
	planes.Delete(t, f.Planes, f.original)
	f.mustReconcile(t, "web")
	if planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the copy stays")
	}
}

// TestSuspensionRequests: a suspension requeues all deployments of the project, if this replica has engaged it.
func TestSuspensionRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(queue.ShutDown)
	if err := f.reconciler.suspensions().Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	f.suspended.tell("south")
	f.suspended.tell(planes.ProjectName.String())
	// Deployments of other tests are in the same project.
	for {
		if got, _ := queue.Get(); got == f.request("web") {
			return
		} else if got.ClusterName != planes.ProjectName {
			t.Errorf("got %v", got)
		}
	}
}
