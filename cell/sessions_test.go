// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/cell/sessions"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestSessions: the credential of sessions is bound in the namespaces of projects, and in no other one that has a
// deployment.
func TestSessions(t *testing.T) {
	f := newFixture(t)
	r := &sessions.Reconciler{Client: f.direct, Users: []string{"streams"}}
	binding := func(namespace string) (*rbacv1.RoleBinding, error) {
		f.namespace = namespace
		f.deployment(1)
		for range 2 {
			if _, err := r.Reconcile(t.Context(), reconcile.Request{
				NamespacedName: types.NamespacedName{Namespace: namespace, Name: "web"},
			}); err != nil {
				t.Fatal(err)
			}
		}
		stored := &rbacv1.RoleBinding{}
		return stored, f.direct.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: sessions.Name}, stored)
	}
	space := f.namespace
	if stored, err := binding(testenv.Namespace(t, f.direct, "theirs").Name); !apierrors.IsNotFound(err) {
		t.Errorf("a namespace that is of no project has %+v, %v", stored, err)
	}
	stored, err := binding(space)
	if err != nil || stored.RoleRef.Name != "karmada-compute-cell-streams" || len(stored.Subjects) != 1 ||
		stored.Subjects[0].Name != "streams" {
		t.Fatalf("the namespace of a project has %+v, %v", stored, err)
	}
	// An added subject is removed.
	stored.Subjects = append(stored.Subjects, rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "thief"})
	if err := f.direct.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: space, Name: "web"}}); err != nil {
		t.Fatal(err)
	}
	if err := f.direct.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil || len(stored.Subjects) != 1 {
		t.Errorf("the subjects are %+v, %v", stored.Subjects, err)
	}
}
