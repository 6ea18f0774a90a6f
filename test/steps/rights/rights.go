// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addRightsSteps adds the sentences about the rights of users.
func addRightsSteps(sc world.Sentences) {
	sc.Step(`^in plane "([^"]*)" user "([^"]*)" may (not )?(\w+) "([^"]*)"$`,
		func(ctx context.Context, plane, user, not, verb, resource string) error {
			return from(ctx).isAllowed(ctx, question{plane: plane, user: user, verb: verb, resource: resource}, not == "")
		})
	sc.Step(`^`+world.Someone+` is allowed to (\w+|do everything to) "([^"]*)" in (the namespace|every project)$`,
		func(ctx context.Context, who, verb, resources, where string) error {
			s := from(ctx)
			if where == "every project" {
				return s.allow(ctx, "milo", right{user: world.User(who), verb: verb, resources: resources})
			}
			return s.allow(ctx, s.Plane(""), right{user: world.User(who), verb: verb, resources: resources, namespace: s.Namespace})
		})
	sc.Step(`^the add-on may (not )?read Secrets in the project(?: again)?$`, func(ctx context.Context, not string) error {
		s := from(ctx)
		if not == "" {
			return s.Disturbed.Now(ctx, "the add-on's right to Secrets")
		}
		return s.withholdSecrets(ctx)
	})
}

// question asks whether a user has a right.
type question struct{ plane, user, verb, resource, namespace string }

// isAllowed asks the plane's own API server, as the user.
func (s Steps) isAllowed(ctx context.Context, q question, wanted bool) error {
	c := s.Client(q.plane, q.user)
	full, subresource, _ := strings.Cut(q.resource, "/")
	resource, group, _ := strings.Cut(full, ".")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: q.namespace, Verb: q.verb, Group: group, Resource: resource, Subresource: subresource,
		},
	}}
	if err := c.Create(ctx, review); err != nil {
		return err
	}
	if review.Status.Allowed != wanted {
		return fmt.Errorf("allowed is %t: %s", review.Status.Allowed, review.Status.Reason)
	}
	return nil
}

// right is a user's right in a namespace, or everywhere.
type right struct{ user, verb, resources, namespace string }

// allow grants a right and waits until it is effective. A right at Milo's root takes effect in the projects a moment
// later.
func (s Steps) allow(ctx context.Context, plane string, r right) error {
	c := s.Client(plane, world.Admin)
	if r.verb == "do everything to" {
		r.verb = rbacv1.VerbAll
	}
	name := metav1.ObjectMeta{Namespace: r.namespace, Name: r.user + "-" + s.Namespace + "-" + rand.String(4)}
	var rules []rbacv1.PolicyRule
	for _, full := range world.SplitNames(r.resources) {
		full, subresource, isSub := strings.Cut(full, "/")
		resource, group, _ := strings.Cut(full, ".")
		if isSub {
			resource += "/" + subresource
		}
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{r.verb}})
	}
	objects := []client.Object{&rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}, bindingOf(name.Name, r.user)}
	if r.namespace != "" {
		objects = []client.Object{&rbacv1.Role{ObjectMeta: name, Rules: rules}, &rbacv1.RoleBinding{
			ObjectMeta: name,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: r.user}},
		}}
	}
	for _, object := range objects {
		if err := c.Create(ctx, object); err != nil {
			return err
		}
		s.RemoveLater(plane, object)
	}
	for _, resource := range world.SplitNames(r.resources) {
		asked := question{plane: s.Plane(""), user: r.user, verb: r.verb, resource: resource, namespace: r.namespace}
		if err := world.Eventually(ctx, func(ctx context.Context) error { return s.isAllowed(ctx, asked, true) }); err != nil {
			return err
		}
	}
	return nil
}

func bindingOf(role, user string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
}

// withholdSecrets removes the add-on's right to read Secrets in the scenario's project. The original of the role, at
// Milo's root, stays.
func (s Steps) withholdSecrets(ctx context.Context) error {
	c := s.Client(s.Plane(""), world.Admin)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "karmada-compute-project"}}
	var before, without []rbacv1.PolicyRule
	if err := c.Get(ctx, client.ObjectKeyFromObject(role), role); err != nil {
		return err
	}
	for _, rule := range role.Rules {
		before = append(before, rule)
		if !strings.Contains(strings.Join(rule.Resources, " "), "secrets") {
			without = append(without, rule)
		}
	}
	set := func(ctx context.Context, rules []rbacv1.PolicyRule) error {
		return world.UpdateWhenFree(ctx, c, role, func(role *rbacv1.ClusterRole) { role.Rules = rules })
	}
	s.Disturbed.Add("the add-on's right to Secrets", func(ctx context.Context) error { return set(ctx, before) })
	return set(ctx, without)
}
