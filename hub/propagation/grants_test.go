// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func (f *fixture) grant() *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: projects.GrantName}}
}

// TestGrant verifies that a hub namespace gets the RoleBinding before anything else is written there.
func TestGrant(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	writes := f.mustReconcile(t, "web")
	bound := slices.IndexFunc(writes, func(call planes.Call) bool { return call.Kind == "RoleBinding" })
	created := slices.IndexFunc(writes, func(call planes.Call) bool { return call.Kind == "Namespace" })
	for i, call := range writes {
		if slices.Contains([]string{"Work", "PropagationPolicy", "WorkloadDeployment"}, call.Kind) && call.Verb == "apply" && i < bound {
			t.Errorf("%v is before the RoleBinding", call)
		}
	}
	if bound <= created || created < 0 {
		t.Errorf("the namespace is write %d and the RoleBinding write %d of %v", created, bound, writes)
	}
	f.checkGrant(t)
}

// TestGrantIsRestored verifies that the RoleBinding is created in a hub namespace that lacks it, and restored after it
// was edited.
func TestGrantIsRestored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	for name, change := range map[string]func(){
		"deleted": func() { planes.Delete(t, f.Planes, f.grant()) },
		"edited": func() {
			planes.Change(t, f.Planes, f.grant(), func(b *rbacv1.RoleBinding) { b.Subjects[0].Name = "somebody else" })
		},
		"with another subject": func() {
			planes.Change(t, f.Planes, f.grant(), func(b *rbacv1.RoleBinding) {
				b.Subjects = append(b.Subjects, rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "somebody else"})
			})
		},
	} {
		change()
		if writes := f.mustReconcile(t, "web"); len(writes) != 1 || writes[0].Kind != "RoleBinding" {
			t.Errorf("%s: it writes %v", name, writes)
		}
		f.checkGrant(t)
		if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
			t.Errorf("%s: it does not settle: %v", name, writes)
		}
	}
}

// checkGrant checks that the RoleBinding grants one role to the add-on's user.
func (f *fixture) checkGrant(t *testing.T) {
	t.Helper()
	got := planes.Get(t, f.Planes, f.HubNamespace, projects.GrantName, &rbacv1.RoleBinding{})
	if got.RoleRef.Kind != "ClusterRole" || got.RoleRef.Name != projects.GrantRole || len(got.Subjects) != 1 ||
		got.Subjects[0].Name != planes.AddOn {
		t.Errorf("it is %+v to %+v", got.RoleRef, got.Subjects)
	}
}
