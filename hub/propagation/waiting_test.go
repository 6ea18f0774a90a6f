// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestWaiting: a deletion in progress blocks all following steps.
func TestWaiting(t *testing.T) {
	t.Parallel()
	namespace := func(f *fixture) client.Object { return f.namespace() }
	work := func(f *fixture) client.Object { return f.work() }
	policy := func(f *fixture) client.Object { return f.policy() }
	copied := func(f *fixture) client.Object { return f.copied() }
	tests := map[string]struct {
		deleted func(*fixture) client.Object
		after   []func(*fixture) client.Object
		end     func(*testing.T, *fixture)
	}{
		"for the namespace": {
			namespace, []func(*fixture) client.Object{work, policy, copied}, func(t *testing.T, f *fixture) { t.Helper(); f.EndHubNamespace(t) },
		},
		"for the Work": {
			work, []func(*fixture) client.Object{policy, copied}, func(t *testing.T, f *fixture) { t.Helper(); end(t, f, f.work()) },
		},
		"for the policy": {policy, []func(*fixture) client.Object{copied}, func(t *testing.T, f *fixture) { t.Helper(); end(t, f, f.policy()) }},
		"for the copy":   {copied, nil, func(t *testing.T, f *fixture) { t.Helper(); end(t, f, f.copied()) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.mustReconcile(t, "web")
			deleted := test.deleted(f)
			if name != "for the namespace" {
				hold(t, f, deleted)
			}
			for _, obj := range test.after {
				if obj := obj(f); obj.GetName() == f.work().Name {
					end(t, f, f.work())
				}
				planes.Delete(t, f.Planes, obj(f))
			}
			planes.Delete(t, f.Planes, deleted)
			if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
				t.Errorf("it does not wait and writes %v", writes)
			}
			f.mustLookAgain(t, "web")
			test.end(t, f)
			if test.deleted(f).GetName() != f.HubNamespace && planes.Exists(t, f.Planes, deleted) {
				t.Fatal("it is still there")
			}
			f.mustReconcile(t, "web")
			for _, obj := range append(test.after, test.deleted) {
				if !planes.Exists(t, f.Planes, obj(f)) {
					t.Errorf("after the wait there is no %T", obj(f))
				}
			}
		})
	}
}

// TestTheCopyOfAnEarlierDeployment of the same name and another Workload, whose finalizer was removed by force, is
// deleted before the new one is created.
func TestTheCopyOfAnEarlierDeployment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	earlier := read(t, f, f.copied())
	end(t, f, f.original)
	planes.Delete(t, f.Planes, f.original)
	next := f.Deployment("web", f.city)
	next.Spec.WorkloadRef.UID = "of-the-next"
	f.original = planes.Create(t, f.Planes, next)
	hold(t, f, f.copied())

	f.mustReconcile(t, "web")
	got := read(t, f, f.copied())
	if got.UID != earlier.UID || got.DeletionTimestamp.IsZero() ||
		got.Labels[v1alpha.LabelDeploymentUID] != earlier.Labels[v1alpha.LabelDeploymentUID] {
		t.Errorf("it is %+v", got.ObjectMeta)
	}
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("while it ends, it writes %v", writes)
	}
	end(t, f, f.copied())
	f.mustReconcile(t, "web")
	if got := read(t, f, f.copied()); got.Labels[v1alpha.LabelDeploymentUID] != string(f.original.UID) {
		t.Errorf("the new one is %+v", got.ObjectMeta)
	}
}

// TestTheCopyOfAnEarlierDeploymentIsReplacedMeanwhile: only the copy that was read is deleted.
func TestTheCopyOfAnEarlierDeploymentIsReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) {
		d.Labels[v1alpha.LabelDeploymentUID], d.Spec.WorkloadRef.UID = "earlier", "of-the-earlier"
	})
	f.Hub.Once("delete", "WorkloadDeployment", func() error {
		second := read(t, f, f.copied())
		planes.Delete(t, f.Planes, second)
		second.ResourceVersion, second.UID = "", ""
		planes.Create(t, f.Planes, second)
		return nil
	})
	if _, err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if !planes.Exists(t, f.Planes, f.copied()) {
		t.Error("another copy than that which was read is deleted")
	}
}
