// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mayAtMilo lists, for the controllers and for Pods that serve webhooks only, whether they have this permission at
// Milo.
var mayAtMilo = map[string]struct{ controllers, webhooks bool }{
	"get secrets":       {true, false},
	"list secrets":      {true, false},
	"watch configmaps":  {true, false},
	"create secrets":    {},
	"patch configmaps":  {},
	"create namespaces": {},
	"get pods":          {},
	"list workloads":    {true, true},
	"patch workloads":   {true, false},
	"delete workloads":  {},
	"create instances":  {true, false},
	"create clusterroles.rbac.authorization.k8s.io":                       {},
	"create rolebindings.rbac.authorization.k8s.io":                       {},
	"create subjectaccessreviews.authorization.k8s.io":                    {true, true},
	"delete validatingwebhookconfigurations.admissionregistration.k8s.io": {},
	"patch validatingwebhookconfigurations.admissionregistration.k8s.io":  {},
	"list projects.resourcemanager.miloapis.com":                          {true, true},
	"patch projects.resourcemanager.miloapis.com":                         {},
	"create resourceclaims.quota.miloapis.com":                            {true, false},
	"list resourcegrants.quota.miloapis.com":                              {true, true},
}

// TestStolenCredentialsOfMilo verifies the permissions of the credentials for Milo, with the roles of the chart.
func TestStolenCredentialsOfMilo(t *testing.T) {
	install(t, newClient(t), render(t, parts["milo"], separate))
	controllers, webhooks := clientOf(t, "karmada-compute"), clientOf(t, "karmada-compute-webhook")
	for _, verb := range slices.Sorted(maps.Keys(mayAtMilo)) {
		want := mayAtMilo[verb]
		if got, err := may(t.Context(), controllers, verb); err != nil || got != want.controllers {
			t.Errorf("the controllers may %s: %t, %v", verb, got, err)
		}
		if got, err := may(t.Context(), webhooks, verb); err != nil || got != want.webhooks {
			t.Errorf("the webhooks may %s: %t, %v", verb, got, err)
		}
	}
}

// may asks whether the user of a client has a permission, such as "get secrets". Kinds without a group are Kubernetes'
// own or the add-on's.
func may(ctx context.Context, c client.Client, what string) (bool, error) {
	verb, full, _ := strings.Cut(what, " ")
	resource, group, _ := strings.Cut(full, ".")
	if group == "" && slices.Contains([]string{"workloads", "instances"}, resource) {
		group = "compute.datumapis.com"
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource},
	}}
	err := c.Create(ctx, review)
	return review.Status.Allowed, err
}
