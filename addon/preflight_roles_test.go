// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestBroadRolesOfConsumers: enable names the bindings in projects that let consumers use Karmada itself, and no other
// bindings.
func TestBroadRolesOfConsumers(t *testing.T) {
	s := newSite(t)
	bind := func(namespace, role string) {
		t.Helper()
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "consumers-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
		if err := s.Create(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
	}
	project, other := testenv.Namespace(t, s.Client, "project"), testenv.Namespace(t, s.Client, "other")
	label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+v1alpha.LabelNamespaceProject+`":"true"}}}`))
	if err := s.Patch(t.Context(), project, label); err != nil {
		t.Fatal(err)
	}
	bind(project.Name, "karmada-compute-consumer")
	bind(other.Name, "edit")
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	check := func(values map[string]any) string {
		f := &findings{}
		run.values = values
		run.checkConsumers(t.Context(), f)
		return strings.Join(f.warnings, "\n")
	}
	withoutMilo := nested([]string{"projects", "mode"}, "namespaces")
	if got := check(withoutMilo); got != "" {
		t.Errorf("the role of consumers: %s", got)
	}
	bind(project.Name, "edit")
	if got := check(nil); got != "" {
		t.Errorf("with Milo: %s", got)
	}
	if got := check(withoutMilo); !strings.Contains(got,
		project.Name+"/consumers-edit (edit); bind ClusterRole karmada-compute-consumer instead") {
		t.Errorf("role edit: %q", got)
	}
}

// TestEarlyHubNamespaces: what has the name of a hub namespace before the policy reserves these may be of another
// party.
func TestEarlyHubNamespaces(t *testing.T) {
	s := newSite(t)
	early := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns-" + string(uuid.NewUUID())}}
	if err := s.Create(t.Context(), early); err != nil {
		t.Fatal(err)
	}
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	f := &findings{}
	run.checkHubNamespaces(t.Context(), f)
	if got := strings.Join(f.warnings, "\n"); !strings.Contains(got, early.Name) || !strings.Contains(got, "older than the policy") {
		t.Errorf("warnings %q", got)
	}
}
