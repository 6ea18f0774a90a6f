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

// Review sends a SubjectAccessReview to a project and returns whether it was allowed, and the authorizer's reason. Allowed reviews are
// cached for 5 s, as in a kube-apiserver with an authorization webhook. Denied reviews are not, so that a new role takes effect at
// once.
//
// The spec is sent unchanged. For a user of the project, its Extra must hold the extras of the AdmissionReview's userInfo
// (iam.miloapis.com/parent-api-group, -type and -name): without them the authorizer denies everything. Call it only with a Project that
// Project returned. allowed is false whenever err is not nil.
func (l *Lookup) Review(ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec) (allowed bool, reason string, err error) {
	return l.review(ctx, l.reviews, project, spec)
}

// MayWrite is Review for a request that an API server has authorized itself: while Milo does not answer, an allowed review may be up to
// 10 minutes old, as the Project.
func (l *Lookup) MayWrite(ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	allowed, _, err := l.review(ctx, l.writes, project, spec)
	return allowed, err
}

func (l *Lookup) review(ctx context.Context, cached *answers[string], project *Project, spec authorizationv1.SubjectAccessReviewSpec) (allowed bool, reason string, err error) {
	key, err := reviewKey(project, spec)
	if err != nil {
		return false, "", err
	}
	reason, allowed, err = cached.get(ctx, key, func(ctx context.Context) (string, bool, error) {
		return l.askReview(ctx, project, spec)
	})
	return allowed && err == nil, reason, err
}

// reviewKey is the key of a review in the cache. It depends on the whole spec, since any field may matter to an authorizer.
func reviewKey(project *Project, spec authorizationv1.SubjectAccessReviewSpec) (string, error) {
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode the review of the user's access: %w", err)
	}
	digest := sha256.Sum256(encoded)
	return identity(project) + "/" + string(digest[:]), nil
}

// askReview sends a review to a project.
func (l *Lookup) askReview(ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec) (reason string, allowed bool, err error) {
	creator, err := l.planes.Client(project.Name)
	if err != nil {
		return "", false, err
	}
	review := &authorizationv1.SubjectAccessReview{Spec: spec}
	if err := creator.Create(ctx, review); err != nil {
		return "", false, l.unanswered("a review of the user's access", err)
	}
	status := review.Status
	if status.Reason == "" && !status.Allowed {
		// An authorizer that failed to decide gives an error instead of a reason.
		status.Reason = status.EvaluationError
	}
	return status.Reason, status.Allowed && !status.Denied, nil
}
