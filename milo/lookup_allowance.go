// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"math"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// allowance is how many Instances a project may have.
type allowance struct {
	limit int64
	// known is false if there is no limit.
	known bool
}

// InstanceAllowance is the sum of the Instances that the project's ResourceGrants allow. known is false, and limit 0, if no active
// grant of the project covers Instances, or Milo has no quota. It may be up to 5 s old. Call it only with a Project that Project
// returned.
//
// Use it for early warnings. Only a ResourceClaim shows whether quota is left.
func (l *Lookup) InstanceAllowance(ctx context.Context, project *Project) (limit int64, known bool, err error) {
	a, _, err := l.allowances.get(ctx, identity(project), func(ctx context.Context) (allowance, bool, error) {
		a, err := l.readAllowance(ctx, project)
		return a, err == nil, err
	})
	return a.limit, a.known, err
}

// readAllowance sums the project's grants.
func (l *Lookup) readAllowance(ctx context.Context, project *Project) (allowance, error) {
	reader, err := l.planes.Client(project.Name)
	if err != nil {
		return allowance{}, err
	}
	var grants ResourceGrantList
	switch err := reader.List(ctx, &grants); {
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		return allowance{}, nil
	case err != nil:
		return allowance{}, l.unanswered("the project's quota", err)
	}
	var sum allowance
	for i := range grants.Items {
		if grants.Items[i].countsFor(project) {
			sum.add(grants.Items[i].Spec.Allowances)
		}
	}
	return sum, nil
}

// countsFor reports whether a grant is for the project and is not inactive. A grant without the condition counts, since Milo has not
// evaluated it yet.
func (g *ResourceGrant) countsFor(project *Project) bool {
	consumer := g.Spec.ConsumerRef
	return consumer.Kind == "Project" && consumer.Name == project.Name &&
		!meta.IsStatusConditionFalse(g.Status.Conditions, ConditionActive)
}

// add adds the allowances for Instances. The sum is capped at math.MaxInt64.
func (a *allowance) add(allowances []Allowance) {
	for _, allowed := range allowances {
		if allowed.ResourceType != ResourceTypeInstances {
			continue
		}
		a.known = true
		for _, bucket := range allowed.Buckets {
			amount := max(bucket.Amount, 0)
			a.limit += min(amount, math.MaxInt64-a.limit)
		}
	}
}
