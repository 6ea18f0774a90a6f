// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// Review asks the project's authorizer whether somebody may do something, and says why in the authorizer's words. It is
// asked every time: an answer that is seconds old could let in somebody who was just shut out.
//
// The spec is sent as it is. For a user of the project, its Extra must hold the extras of the AdmissionReview's userInfo
// (iam.miloapis.com/parent-api-group, -type and -name): without them the authorizer says no. Ask it only of what Project
// returned. allowed is false whenever err is not nil.
func (l *Lookup) Review(ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec) (allowed bool, reason string, err error) {
	review := &authorizationv1.SubjectAccessReview{Spec: spec}
	err = l.live(ctx, kindReview, func(ctx context.Context) error {
		creator, err := l.within(project)
		if err != nil {
			return err
		}
		if err := creator.Create(ctx, review); err != nil {
			return asked("a review of the user's access", err)
		}
		return nil
	})
	if err != nil {
		l.metrics.count(kindReview, outcomeError)
		return false, "", err
	}
	l.metrics.count(kindReview, outcomeMiss)
	status := review.Status
	if status.Reason == "" && !status.Allowed {
		// An authorizer that failed to decide gives no reason, but says what went wrong.
		status.Reason = status.EvaluationError
	}
	return status.Allowed && !status.Denied, status.Reason, nil
}
