// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects_test

import (
	"context"
	"os"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// TestAGrantCountsWhenItIsInForce: the authorizer of an API server learns of a RoleBinding later than the cache of its
// reader. Until then the add-on has no rights in the hub namespace; afterwards it asks no more.
func TestAGrantCountsWhenItIsInForce(t *testing.T) {
	p := planes.New(t)
	p.EnsureHubNamespace(t)
	p.RestrictHub(t, rbacv1.PolicyRule{
		APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}, Verbs: []string{"get", "create", "patch"},
	}, rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, Verbs: []string{"bind"}})
	grants := projects.NewGrants(p.Hub)
	if err := grants.Ensure(t.Context(), p.HubNamespace, projects.Origin{Project: "north", ProjectUID: planes.ProjectUID}); err != nil {
		t.Fatal(err)
	}
	if open, err := grants.Has(t.Context(), p.HubNamespace); err != nil || open {
		t.Errorf("before its rights are known: %t, %v", open, err)
	}
	planes.Create(t, p, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: projects.GrantRole}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"list"}},
	}})
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return grants.Has(ctx, p.HubNamespace)
	}); err != nil {
		t.Fatal(err)
	}
	p.Hub.Calls()
	if open, err := grants.Has(t.Context(), p.HubNamespace); err != nil || !open {
		t.Errorf("once its rights are known: %t, %v", open, err)
	}
	for _, call := range p.Hub.Calls() {
		if call.Verb != "get" {
			t.Errorf("it asks again: %v", call)
		}
	}
	planes.Delete(t, p, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: p.HubNamespace, Name: projects.GrantName}})
	if open, err := grants.Has(t.Context(), p.HubNamespace); err != nil || open {
		t.Errorf("without the RoleBinding: %t, %v", open, err)
	}
}
