// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// preserved creates the Work of a ServiceAccount that is being deleted, and that Karmada cannot end.
func (f *fixture) preserved(t *testing.T, name, product string, preserve bool) *workv1alpha1.Work {
	t.Helper()
	manifest := `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"agent","labels":{"` + partOf + `":"` + product + `"}}}`
	work := planes.Create(t, f.Planes, &workv1alpha1.Work{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: planes.ExecutionSpace(f.cell.Name), Name: name, Finalizers: []string{ExecutionFinalizer},
		},
		Spec: workv1alpha1.WorkSpec{
			PreserveResourcesOnDeletion: &preserve,
			Workload: workv1alpha1.WorkloadTemplate{
				Manifests: []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(manifest)}}},
			},
		},
	})
	planes.Delete(t, f.Planes, work)
	return work
}

// TestAPreservedWork: a Work whose object has gone from the cell with its namespace is released after a while, so that
// Karmada recreates the object, and so that a cell can be unjoined and forgotten.
func TestAPreservedWork(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	clock := testclock.NewFakePassiveClock(time.Now())
	f.reconciler.Clock = clock
	stuck := f.preserved(t, "stuck", thisProduct, true)

	if after := f.reconcile(t); after <= 0 || after > preservedAfter+time.Second {
		t.Errorf("it is requeued after %s", after)
	}
	if !planes.Exists(t, f.Planes, stuck) {
		t.Fatal("Karmada had no time to end the Work")
	}

	clock.SetTime(time.Now().Add(preservedAfter + time.Second))
	f.lose(t)
	f.reconcile(t)
	if !planes.Exists(t, f.Planes, stuck) {
		t.Fatal("the Work is released although Karmada does not reach the cell")
	}

	// Karmada ends it neither when the Cluster is unjoined nor when an operator has forgotten the cell.
	unjoined := f.preserved(t, "unjoined", thisProduct, true)
	clock.SetTime(time.Now().Add(2*preservedAfter + time.Second))
	hold := func(finalizers ...string) {
		planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) { c.Finalizers = finalizers })
	}
	hold("test/hold")
	f.forget(t)
	f.reconcile(t)
	if planes.Exists(t, f.Planes, unjoined) {
		t.Error("the Work holds a cell that is forgotten and does not answer")
	}
	unjoined = f.preserved(t, "unjoined", thisProduct, true)
	clock.SetTime(time.Now().Add(3*preservedAfter + time.Second))
	f.remember(t)
	planes.Delete(t, f.Planes, f.cell)
	f.reconcile(t)
	hold()
	if planes.Exists(t, f.Planes, unjoined) || planes.Exists(t, f.Planes, stuck) {
		t.Error("the Work holds a Cluster that is unjoined and does not answer")
	}
}

// TestAPreservedWorkOfAReadyCell: Works that Karmada still ends, or that are another product's, stay.
func TestAPreservedWorkOfAReadyCell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	clock := testclock.NewFakePassiveClock(time.Now().Add(preservedAfter + time.Second))
	f.reconciler.Clock = clock
	stuck := f.preserved(t, "stuck", thisProduct, true)
	foreign := f.preserved(t, "foreign", "another", true)
	deletes := f.preserved(t, "deletes", thisProduct, false)
	f.SetReady(t, planes.Get(t, f.Planes, "", f.cell.Name, &clusterv1alpha1.Cluster{}), metav1.ConditionTrue, metav1.Now())
	if after := f.reconcile(t); after != 0 {
		t.Errorf("it is requeued after %s with nothing left", after)
	}
	for _, c := range []struct {
		work *workv1alpha1.Work
		want bool
	}{{stuck, false}, {foreign, true}, {deletes, true}} {
		if got := planes.Exists(t, f.Planes, c.work); got != c.want {
			t.Errorf("Work %s exists: %t", c.work.Name, got)
		}
	}
	f.Hub.Calls()
	f.reconcile(t)
	if writes := f.Hub.Writes(); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
}

// TestTrimPreserved: a cache keeps what the controller acts on, and nothing of other Works.
func TestTrimPreserved(t *testing.T) {
	preserve, now := true, metav1.Now()
	work := &workv1alpha1.Work{
		ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, Finalizers: []string{ExecutionFinalizer}},
		Spec:       workv1alpha1.WorkSpec{PreserveResourcesOnDeletion: &preserve},
	}
	trimmed := &workv1alpha1.Work{}
	if TrimPreserved(work, trimmed); !isPreserved(trimmed) {
		t.Errorf("the cache has %+v", trimmed)
	}
	work.DeletionTimestamp = nil
	trimmed = &workv1alpha1.Work{}
	if TrimPreserved(work, trimmed); len(trimmed.Finalizers) > 0 || trimmed.Spec.PreserveResourcesOnDeletion != nil {
		t.Errorf("the cache has %+v of a Work that is not being deleted", trimmed)
	}
}
