// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// made returns a fixture with deployment web on the hub.
func made(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	return f
}

func (f *fixture) withdraw(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return f.reconciler.Withdraw(t.Context(), f.request("web"))
}

func (f *fixture) mustWithdraw(t *testing.T) []planes.Call {
	t.Helper()
	f.Hub.Calls()
	if _, err := f.withdraw(t); err != nil {
		t.Fatal(err)
	}
	return f.Hub.Writes()
}

// force deletes the original without its finalizer.
func force(t *testing.T, f *fixture) {
	t.Helper()
	end(t, f, f.readOriginal(t))
	planes.Delete(t, f.Planes, f.original)
	if planes.Exists(t, f.Planes, f.original) {
		t.Fatal("the original stays")
	}
}

// TestADeploymentDeletedByMistake keeps its copy, which the next one of its Workload adopts.
func TestADeploymentDeletedByMistake(t *testing.T) {
	t.Parallel()
	f := made(t)
	f.wanted[f.original.Spec.WorkloadRef.UID] = true
	before := read(t, f, f.copied())
	planes.Delete(t, f.Planes, f.original)
	f.mustReconcile(t, "web")
	if planes.Exists(t, f.Planes, f.original) {
		t.Error("the original is held up")
	}
	f.mustWithdraw(t)
	if got := read(t, f, f.copied()); got.UID != before.UID || !got.DeletionTimestamp.IsZero() {
		t.Fatal("the copy was deleted")
	}

	again := planes.Create(t, f.Planes, f.Deployment("web", f.city))
	f.mustReconcile(t, "web")
	after := read(t, f, f.copied())
	if after.UID != before.UID || after.Generation != before.Generation {
		t.Error("the copy was made again or changed")
	}
	if got := after.Labels[v1alpha.LabelDeploymentUID]; got != string(again.UID) {
		t.Errorf("the copy is of deployment %s, not of %s", got, again.UID)
	}
}

// TestWhoAdoptsACopy: only a deployment of the same Workload, placement and city.
func TestWhoAdoptsACopy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*v1alpha.WorkloadDeployment)
		want   bool
	}{
		"the same":          {func(*v1alpha.WorkloadDeployment) {}, true},
		"another Workload":  {func(d *v1alpha.WorkloadDeployment) { d.Spec.WorkloadRef.UID = "another" }, false},
		"another placement": {func(d *v1alpha.WorkloadDeployment) { d.Spec.PlacementName = "another" }, false},
		"another template": {func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Template.Annotations = map[string]string{v1alpha.AnnotationRestartedAt: "now"}
		}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := made(t)
			before := read(t, f, f.copied())
			force(t, f)
			next := f.Deployment("web", f.city)
			test.change(next)
			planes.Create(t, f.Planes, next)
			f.mustReconcile(t, "web")
			if got := planes.Exists(t, f.Planes, f.copied()) && read(t, f, f.copied()).UID == before.UID; got != test.want {
				t.Errorf("it adopts the copy: %t", got)
			}
		})
	}
}

func TestACopyWithoutOriginalGoes(t *testing.T) {
	t.Parallel()
	f := made(t)
	force(t, f)
	f.mustWithdraw(t)
	if planes.Exists(t, f.Planes, f.copied()) || planes.Exists(t, f.Planes, f.policy()) {
		t.Error("the copy or the policy stays")
	}
	if read(t, f, f.work()).DeletionTimestamp.IsZero() || read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("the Work or the namespace is not deleted")
	}
	if writes := f.mustWithdraw(t); len(writes) > 0 {
		t.Errorf("after that it writes %v", writes)
	}
}

func TestACopyWithoutOriginalLeavesWhatOthersNeed(t *testing.T) {
	t.Parallel()
	f := made(t)
	planes.Create(t, f.Planes, f.Deployment("other", f.city))
	f.mustReconcile(t, "other")
	force(t, f)
	f.mustWithdraw(t)
	if planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the copy stays")
	}
	if !planes.Exists(t, f.Planes, f.policy()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("what the other deployment needs is deleted")
	}
}

func TestACopyWaitsForAnOriginal(t *testing.T) {
	t.Parallel()
	f := made(t)
	f.wanted[f.original.Spec.WorkloadRef.UID] = true
	force(t, f)
	result, err := f.withdraw(t)
	if err != nil || result.RequeueAfter != recreatedWithin {
		t.Errorf("got %+v, %v", result, err)
	}
	if !planes.Exists(t, f.Planes, f.copied()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("something was deleted")
	}
	delete(f.wanted, f.original.Spec.WorkloadRef.UID)
	f.mustWithdraw(t)
	if planes.Exists(t, f.Planes, f.copied()) {
		t.Error("when the Workload is gone too, the copy stays")
	}
}

func TestACopyStaysWhenTheCacheIsBehind(t *testing.T) {
	t.Parallel()
	f := made(t)
	f.mustWithdraw(t)
	if !planes.Exists(t, f.Planes, f.copied()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("something was deleted whose original exists")
	}
}

func TestACopyOfAnotherProjectStays(t *testing.T) {
	t.Parallel()
	f := made(t)
	planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { d.Labels[v1alpha.LabelProjectUID] = "another" })
	force(t, f)
	f.mustWithdraw(t)
	if !planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the copy was deleted")
	}
}

// TestACopyStaysWithoutAnAnswer: an API server that does not serve the kind answers "not found" too.
func TestACopyStaysWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	f := made(t)
	force(t, f)
	f.Project.Before(func(call planes.Call) error {
		if call.Verb != "get" || call.Kind != "WorkloadDeployment" {
			return nil
		}
		return apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "", 0, true)
	})
	if _, err := f.withdraw(t); err == nil {
		t.Error("an answer that names nothing is taken for one")
	}
	if !planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the copy was deleted")
	}
}

// TestACopyStaysWhenMiloIsEmpty: a Milo that has lost its storage answers for every project as for an empty one. A
// missing namespace proves something only while Milo's root has the project.
func TestACopyStaysWhenMiloIsEmpty(t *testing.T) {
	t.Parallel()
	f := made(t)
	force(t, f)
	f.Project.Before(func(call planes.Call) error {
		if call.Verb == "get" && call.Kind == "Namespace" {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, call.Name)
		}
		return nil
	})
	f.gone = true
	f.mustWithdraw(t)
	if !planes.Exists(t, f.Planes, f.copied()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Fatal("something was deleted because an empty Milo does not have it")
	}
	f.gone = false
	f.mustWithdraw(t)
	if planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the copy stays although the project exists without its namespace")
	}
}

// TestWithdrawalWithoutNeed asks neither Milo nor the project: there is no copy, and all of the hub namespace is in
// use.
func TestWithdrawalWithoutNeed(t *testing.T) {
	t.Parallel()
	f := made(t)
	planes.Create(t, f.Planes, f.Deployment("other", f.city))
	f.mustReconcile(t, "other")
	force(t, f)
	f.mustWithdraw(t)
	f.gone = true // Every answer of Milo would hold the withdrawal, with a requeue.
	if result, err := f.withdraw(t); err != nil || result.RequeueAfter != 0 {
		t.Errorf("got %+v, %v", result, err)
	}
}

// unnamed plays the sweep, which finds a hub namespace without a copy.
func (f *fixture) unnamed(t *testing.T) reconcile.Result {
	t.Helper()
	request := f.request("")
	result, err := f.reconciler.Withdraw(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestAnUnusedNamespaceStaysWhenMiloIsEmpty: the policies and the hub namespace of a project that Milo has lost are not
// deleted.
func TestAnUnusedNamespaceStaysWhenMiloIsEmpty(t *testing.T) {
	t.Parallel()
	f := made(t)
	force(t, f)
	end(t, f, f.copied())
	planes.Delete(t, f.Planes, f.copied())
	f.gone = true
	if result := f.unnamed(t); result.RequeueAfter != recreatedWithin {
		t.Errorf("got %+v", result)
	}
	if !planes.Exists(t, f.Planes, f.policy()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Fatal("something was deleted because an empty Milo does not have the project")
	}
	f.gone = false
	f.unnamed(t)
	if planes.Exists(t, f.Planes, f.policy()) || read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("what no deployment needs stays")
	}
}

// TestAnUnusedNamespaceStaysForANewOriginal that is not in the cache yet.
func TestAnUnusedNamespaceStaysForANewOriginal(t *testing.T) {
	t.Parallel()
	f := made(t)
	force(t, f)
	end(t, f, f.copied())
	planes.Delete(t, f.Planes, f.copied())
	lists := 0
	f.Project.Before(func(call planes.Call) error {
		// The first list asks for the verdict, the second one reads the cache.
		if call.Verb == "list" && call.Kind == "WorkloadDeploymentList" {
			if lists++; lists == 3 {
				f.Project.Before(nil)
				planes.Create(t, f.Planes, f.Deployment("other", f.city))
			}
		}
		return nil
	})
	f.unnamed(t)
	if !planes.Exists(t, f.Planes, f.policy()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("the policies or the namespace of a deployment that exists were deleted")
	}
}
