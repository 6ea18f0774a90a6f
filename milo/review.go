// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// Review says whether somebody may do something in a project, and why in the words of the project's authorizer. That
// somebody may can be 5 s old, as it can be with a kube-apiserver that asks an authorizer; that they may not is asked
// every time, so that a grant works at once.
//
// The spec is sent as it is. For a user of the project, its Extra must hold the extras of the AdmissionReview's userInfo
// (iam.miloapis.com/parent-api-group, -type and -name): without them the authorizer says no. Ask it only of what Project
// returned. allowed is false whenever err is not nil.
func (l *Lookup) Review(ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec) (allowed bool, reason string, err error) {
	key, err := reviewKey(project, spec)
	if err != nil {
		return false, "", err
	}
	reason, allowed, err = l.reviews.get(ctx, key, func(ctx context.Context) (string, bool, error) {
		return l.askReview(ctx, project, spec)
	})
	return allowed && err == nil, reason, err
}

// reviewKey tells questions apart: everything in the spec may matter to an authorizer.
func reviewKey(project *Project, spec authorizationv1.SubjectAccessReviewSpec) (string, error) {
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode the review of the user's access: %w", err)
	}
	digest := sha256.Sum256(encoded)
	return identity(project) + "/" + string(digest[:]), nil
}

// askReview asks the project's authorizer.
func (l *Lookup) askReview(ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec) (reason string, allowed bool, err error) {
	creator, err := l.within(project)
	if err != nil {
		return "", false, err
	}
	review := &authorizationv1.SubjectAccessReview{Spec: spec}
	if err := creator.Create(ctx, review); err != nil {
		return "", false, asked("a review of the user's access", err)
	}
	status := review.Status
	if status.Reason == "" && !status.Allowed {
		// An authorizer that failed to decide gives no reason, but says what went wrong.
		status.Reason = status.EvaluationError
	}
	return status.Reason, status.Allowed && !status.Denied, nil
}
