// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestCopies(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.app())
	planes.Create(t, f.Planes, f.database())
	f.deploy(t, "web", templateNaming([]string{"app"}, []string{"database"}))
	f.deploy(t, "api", templateNaming(nil, []string{"database"}))
	f.mustReconcile(t)

	app, database := f.appOnHub(t), f.databaseOnHub(t)
	if app.Data["colour"] != "blue" || string(database.Data["password"]) != "hidden" || database.Type != corev1.SecretTypeOpaque {
		t.Errorf("copies hold %v and %d keys", app.Data, len(database.Data))
	}
	var owners []string
	for _, owner := range database.OwnerReferences {
		owners = append(owners, owner.Name)
		if owner.UID != planes.Get(t, f.Planes, f.HubNamespace, owner.Name, &v1alpha.WorkloadDeployment{}).UID || owner.Controller != nil {
			t.Errorf("an owner is %+v", owner)
		}
	}
	if !slices.Equal(owners, []string{"api", "web"}) || len(app.OwnerReferences) != 1 {
		t.Errorf("owners are %v, those of app %v", owners, app.OwnerReferences)
	}
	for _, copied := range []metav1.ObjectMeta{app.ObjectMeta, database.ObjectMeta} {
		if copied.Labels[v1alpha.LabelProjectNamespace] != f.Namespace.Name ||
			copied.Labels[v1alpha.LabelProjectUID] != string(planes.ProjectUID) ||
			copied.Annotations[v1alpha.AnnotationProjectName] != "north" {
			t.Errorf("%s does not say where it comes from: %v %v", copied.Name, copied.Labels, copied.Annotations)
		}
	}
	f.wantReason(t, "web", v1alpha.ReasonAwaitingPropagation)
	f.wantReason(t, "api", v1alpha.ReasonAwaitingPropagation)
}

// TestNothingToDo: without a change, nothing is written and no contents are read.
func TestNothingToDo(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.database())
	f.deploy(t, "web", templateNaming(nil, []string{"database"}))
	f.settled(t)
	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	for _, plane := range []*planes.Plane{f.Project, f.Hub, f.HubAPI} {
		plane.Calls()
	}
	result, err := f.reconcile(t)
	if err != nil || result.RequeueAfter != 0 {
		t.Errorf("got %+v, %v", result, err)
	}
	if writes := append(f.Project.Writes(), f.Hub.Writes()...); len(writes) > 0 {
		t.Errorf("it writes %v", writes)
	}
	f.mustReconcile(t)
	if slices.ContainsFunc(f.Project.Calls(), func(call planes.Call) bool { return call.Kind == "Secret" }) {
		t.Error("it reads contents")
	}
	if calls := f.HubAPI.Calls(); !slices.Equal(calls,
		[]planes.Call{{Verb: "list", Kind: "ConfigMapList"}, {Verb: "list", Kind: "SecretList"}}) {
		t.Errorf("it asks the hub for %v", calls)
	}
}

// TestAudit verifies that copies are compared again without an event, and only if a deployment names some.
func TestAudit(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	f.reconciler.AuditInterval = time.Minute
	f.deploy(t, "web", planes.Template("registry.example/app:1"))
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter != 0 {
		t.Errorf("of a namespace that names no data: %+v, %v", result, err)
	}
	planes.Create(t, f.Planes, f.app())
	f.deploy(t, "api", templateNaming([]string{"app"}, nil))
	f.settled(t)
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter < time.Minute || result.RequeueAfter > 90*time.Second {
		t.Errorf("got %+v, %v", result, err)
	}
}

// TestListings verifies when the copies of a hub namespace are listed: after a change of a copy, or when the last
// listing is too old.
func TestListings(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	f.reconciler.AuditInterval = time.Minute
	planes.Create(t, f.Planes, f.app())
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	f.settled(t)
	wantLists := func(when string, want int) {
		t.Helper()
		f.mustReconcile(t)
		if calls := f.HubAPI.Calls(); len(calls) != want {
			t.Errorf("%s: it asks the hub for %v", when, calls)
		}
	}
	wantLists("nothing has changed", 0)
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	wantLists("the listing is too old", 2)
	wantLists("and then it is not", 0)
	planes.Change(t, f.Planes, f.appOnHub(t), func(c *corev1.ConfigMap) { c.Data["colour"] = "red" })
	f.reconciler.ofBinding(t.Context(), bindingOf(t, f.HubNamespace, "2"))
	// The lists, and the contents of the copy.
	wantLists("Karmada has seen another version of a copy", 3)
	if got := f.appOnHub(t); got.Data["colour"] != "blue" {
		t.Errorf("it is not restored: %v", got.Data)
	}
	wantLists("it was written", 2)
	// An event arrives between a listing and the end of the reconcile.
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	f.HubAPI.Once("list", "SecretList", func() error {
		f.reconciler.ofBinding(t.Context(), bindingOf(t, f.HubNamespace, "3"))
		return nil
	})
	wantLists("the listing is too old again", 2)
	wantLists("a copy has changed since it began", 2)
}

// TestANamespaceThatIsNotOpen: nothing is read or written in a hub namespace before the add-on has the rights, which
// hub/propagation gives it when it reconciles a deployment.
func TestANamespaceThatIsNotOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	planes.Delete(t, f.Planes, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: projects.GrantName}})
	planes.Create(t, f.Planes, f.app())
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter != unconfirmedRetry {
		t.Errorf("got %+v, %v", result, err)
	}
	if calls := f.HubAPI.Calls(); len(calls) > 0 {
		t.Errorf("it asks the hub for %v", calls)
	}
	f.open(t, f.HubNamespace)
	f.HubAPI.Once("list", "SecretList", func() error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "",
			errors.New("the authorizer does not know the RoleBinding yet"))
	})
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter != unconfirmedRetry {
		t.Errorf("a moment later: %+v, %v", result, err)
	}
	f.mustReconcile(t)
	if !f.isOnHub(t, f.app()) {
		t.Error("it is not copied")
	}
}

// TestAProjectThatNamesNothing is not watched, and its deployments have no condition.
func TestAProjectThatNamesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t).engage(t)
	f.deploy(t, "web", planes.Template("registry.example/app:1"))
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("it writes %v", writes)
	}
	if project := f.reconciler.sources.Of(planes.ProjectName); project.metadata != nil {
		t.Error("the project is watched")
	}
	f.wantReason(t, "web", "")
}

func TestWhileAProjectIsBeingEngaged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.deploy(t, "web", templateNaming([]string{"app"}, nil))
	wait := func(when string) {
		if result, err := f.reconcile(t); err != nil || result.RequeueAfter != engageRetry || len(f.Project.Calls()) > 0 {
			t.Errorf("%s: %+v, %v", when, result, err)
		}
	}
	wait("before it is engaged")
	f.engage(t)
	f.mustReconcile(t)
	f.Project.Calls()
	f.Reengage()
	wait("when it is engaged anew, and the sources are of the former engagement")
	f.engage(t)
	f.mustReconcile(t)

	for _, name := range []multicluster.ClusterName{"", "another-replica's"} {
		if _, err := f.reconciler.Reconcile(t.Context(), request(name, "default")); !errors.Is(err, multicluster.ErrClusterNotFound) {
			t.Errorf("of project %q, which is not engaged: %v", name, err)
		}
	}
}

// TestErrorsOfOneKeepNoOther: failed reads and writes are retried, and do not block the others.
func TestErrorsOfOneKeepNoOther(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	hub := func(f *fixture) *planes.Plane { return f.Hub }
	api := func(f *fixture) *planes.Plane { return f.HubAPI }
	project := func(f *fixture) *planes.Plane { return f.Project }
	tests := map[string]struct {
		plane      func(*fixture) *planes.Plane
		verb, kind string
		// want are the reasons of the conditions after the error.
		wantWeb, wantAPI string
	}{
		"a source":            {project, "get", "Secret", v1alpha.ReasonResolving, v1alpha.ReasonAwaitingPropagation},
		"the copy":            {api, "get", "Secret", v1alpha.ReasonAwaitingPropagation, v1alpha.ReasonAwaitingPropagation},
		"the copy's write":    {hub, "apply", "Secret", v1alpha.ReasonAwaitingPropagation, v1alpha.ReasonAwaitingPropagation},
		"the list of copies":  {api, "list", "SecretList", v1alpha.ReasonResolving, v1alpha.ReasonAwaitingPropagation},
		"a condition":         {project, "apply status", "WorkloadDeployment", v1alpha.ReasonAwaitingPropagation, ""},
		"the deployments":     {project, "list", "WorkloadDeploymentList", "", ""},
		"a deployment's copy": {hub, "get", "WorkloadDeployment", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t).engage(t)
			planes.Create(t, f.Planes, f.app())
			planes.Create(t, f.Planes, f.database())
			f.deploy(t, "api", templateNaming([]string{"app"}, nil))
			f.deploy(t, "web", templateNaming(nil, []string{"database"}))
			// The key of hashes, which is a Secret as well, is known.
			f.reconciler.sources.Of(planes.ProjectName).secret = make([]byte, secretBytes)
			test.plane(f).Once(test.verb, test.kind, func() error { return refused })
			if _, err := f.reconcile(t); !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
			f.wantReason(t, "web", test.wantWeb)
			f.wantReason(t, "api", test.wantAPI)
			if copied := f.isOnHub(t, f.app()); copied != (test.wantWeb != "") {
				t.Errorf("the other object is copied: %t", copied)
			}
			f.mustReconcile(t)
			f.wantReason(t, "web", v1alpha.ReasonAwaitingPropagation)
			f.wantReason(t, "api", v1alpha.ReasonAwaitingPropagation)
			if !f.isOnHub(t, f.database()) || !f.isOnHub(t, f.app()) {
				t.Error("after the error it is not copied")
			}
		})
	}
}
