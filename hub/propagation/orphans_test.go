// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/testenv/planes"
)

// made brings deployment web to the hub.
func made(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	return f
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
	f.mustReconcile(t, "web")
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
	f.mustReconcile(t, "web")
	if planes.Exists(t, f.Planes, f.copied()) || planes.Exists(t, f.Planes, f.policy()) {
		t.Error("the copy or the policy stays")
	}
	if read(t, f, f.work()).DeletionTimestamp.IsZero() || read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("the Work or the namespace is not deleted")
	}
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("after that it writes %v", writes)
	}
}

func TestACopyWithoutOriginalLeavesWhatOthersNeed(t *testing.T) {
	t.Parallel()
	f := made(t)
	planes.Create(t, f.Planes, f.Deployment("other", f.city))
	f.mustReconcile(t, "other")
	force(t, f)
	f.mustReconcile(t, "web")
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
	result, err := f.reconcile(t)
	if err != nil || result.RequeueAfter != recreatedWithin {
		t.Errorf("got %+v, %v", result, err)
	}
	if !planes.Exists(t, f.Planes, f.copied()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("something was deleted")
	}
	delete(f.wanted, f.original.Spec.WorkloadRef.UID)
	f.mustReconcile(t, "web")
	if planes.Exists(t, f.Planes, f.copied()) {
		t.Error("when the Workload is gone too, the copy stays")
	}
}

func TestACopyStaysWhenTheCacheIsBehind(t *testing.T) {
	t.Parallel()
	f := made(t)
	f.Project.Once("get", "WorkloadDeployment", func() error {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "workloaddeployments"}, "web")
	})
	f.mustReconcile(t, "web")
	if !planes.Exists(t, f.Planes, f.copied()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("something was deleted whose original exists")
	}
}

func TestACopyOfAnotherProjectStays(t *testing.T) {
	t.Parallel()
	f := made(t)
	planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { d.Labels[v1alpha.LabelProjectUID] = "another" })
	force(t, f)
	f.mustReconcile(t, "web")
	if !planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the copy was deleted")
	}
}

// TestFindAbandoned: the caches show copies without originals, and hub namespaces without copies.
func TestFindAbandoned(t *testing.T) {
	t.Parallel()
	found := func(t *testing.T, f *fixture) []mcreconcile.Request {
		t.Helper()
		all, err := f.reconciler.findAbandoned(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var own []mcreconcile.Request
		for _, request := range all {
			if request.Namespace == f.Namespace.Name {
				own = append(own, request)
			}
		}
		return own
	}
	f := made(t)
	if got := found(t, f); len(got) > 0 {
		t.Errorf("nothing is abandoned, and found is %v", got)
	}
	force(t, f)
	if got := found(t, f); len(got) != 1 || got[0] != f.request("web") {
		t.Errorf("found is %v", got)
	}
	planes.Delete(t, f.Planes, f.copied())
	empty := mcreconcile.Request{
		ClusterName: planes.ProjectName, Request: reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.Namespace.Name}},
	}
	if got := found(t, f); len(got) != 1 || got[0] != empty {
		t.Errorf("without a copy, found is %v", got)
	}
	if _, err := f.reconciler.Reconcile(t.Context(), empty); err != nil {
		t.Fatal(err)
	}
	if planes.Exists(t, f.Planes, f.policy()) || read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("the policy or the namespace stays")
	}
	if got := found(t, f); len(got) > 0 {
		t.Errorf("after that, found is %v", got)
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
	if _, err := f.reconcile(t); err == nil {
		t.Error("an answer that names nothing is taken for one")
	}
	if !planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the copy was deleted")
	}
}

// TestACopyStaysWhenMiloIsEmpty: a Milo that has lost its storage answers for every project as for an empty one. Only while Milo's
// root has the project does a namespace that is missing in it prove something.
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
	f.mustReconcile(t, "web")
	if !planes.Exists(t, f.Planes, f.copied()) || !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Fatal("something was deleted because an empty Milo does not have it")
	}
	f.gone = false
	f.mustReconcile(t, "web")
	if planes.Exists(t, f.Planes, f.copied()) {
		t.Error("the copy stays although the project exists without its namespace")
	}
}
