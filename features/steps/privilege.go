// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"strings"

	"github.com/cucumber/godog"
	authorizationv1 "k8s.io/api/authorization/v1"
)

func addPrivilegeSteps(sc *godog.ScenarioContext) {
	sc.Step(`^in plane "([^"]*)" user "([^"]*)" may (not )?(\w+) "([^"]*)"$`, func(ctx context.Context, plane, user, not, verb, resource string) error {
		return from(ctx).isAllowed(ctx, question{plane, user, verb, resource}, not == "")
	})
}

// question is whether a user may do something.
type question struct{ plane, user, verb, resource string }

// isAllowed asks the plane's own API server, as the user.
func (s *scenario) isAllowed(ctx context.Context, q question, wanted bool) error {
	c, err := s.client(q.plane, q.user)
	if err != nil {
		return err
	}
	full, subresource, _ := strings.Cut(q.resource, "/")
	resource, group, _ := strings.Cut(full, ".")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: q.verb, Group: group, Resource: resource, Subresource: subresource,
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
