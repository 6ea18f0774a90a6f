// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"context"
	"fmt"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
)

// Restrict gives the controller a user in the project with only these rights.
func (p *Planes) Restrict(t testing.TB, rules ...rbacv1.PolicyRule) {
	t.Helper()
	config, c := p.restricted(t, rules)
	restricted, err := cluster.New(config, func(o *cluster.Options) { o.Scheme = p.Client.Scheme() })
	if err != nil {
		t.Fatal(err)
	}
	p.Project = newPlane(c)
	p.cluster = &projectCluster{Cluster: restricted, client: p.Project}
}

// RestrictHub gives the controller a user on the hub with only these rights.
func (p *Planes) RestrictHub(t testing.TB, rules ...rbacv1.PolicyRule) {
	t.Helper()
	_, c := p.restricted(t, rules)
	p.Hub, p.HubAPI = newPlane(c), newPlane(c)
}

// restricted returns the configuration and the client of a new user with only these rights.
func (p *Planes) restricted(t testing.TB, rules []rbacv1.PolicyRule) (*rest.Config, client.WithWatch) {
	t.Helper()
	name := fmt.Sprintf("restricted-%02d", count.Add(1))
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	}
	for _, obj := range []client.Object{role, binding} {
		if err := p.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	config := rest.CopyConfig(shared.cluster.GetConfig())
	config.Impersonate = rest.ImpersonationConfig{UserName: name}
	c, err := client.NewWithWatch(config, client.Options{Scheme: p.Client.Scheme(), Mapper: p.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	awaitRule(t, c, rules[0])
	return config, c
}

// awaitRule waits until the API server knows the rights of c's user: its authorizer reads them from a cache.
func awaitRule(t testing.TB, c client.Client, rule rbacv1.PolicyRule) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: rule.Resources[0]},
		}}
		err := c.Create(ctx, review)
		return err == nil && review.Status.Allowed, err
	}); err != nil {
		t.Fatal(err)
	}
}
