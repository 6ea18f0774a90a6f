// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

func condition(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
	return &metav1.Condition{
		Type: v1alpha.ConditionServiceProgrammed, Status: status, Reason: reason, Message: reasons.Shorten(message, v1alpha.MaxMessage),
	}
}

// report writes the condition of every deployment that has the Service, and removes it from the others.
func (s *scope) report(ctx context.Context) error {
	for i := range s.deployments {
		if err := s.reportOn(ctx, &s.deployments[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) reportOn(ctx context.Context, deployment *v1alpha.WorkloadDeployment) error {
	present := deployment.Status.Conditions
	if !slices.ContainsFunc(s.served, func(d *v1alpha.WorkloadDeployment) bool { return d.UID == deployment.UID }) {
		if !deployment.DeletionTimestamp.IsZero() || meta.FindStatusCondition(present, v1alpha.ConditionServiceProgrammed) == nil {
			return nil
		}
		return apply.Conditions(ctx, s.Client, FieldManager, deployment)
	}
	if s.programmed == nil {
		return nil
	}
	before := meta.FindStatusCondition(present, v1alpha.ConditionServiceProgrammed)
	if before != nil && before.Status == s.programmed.Status && before.Reason == s.programmed.Reason &&
		before.Message == s.programmed.Message {
		// A new generation alone is no change: the hub gives all conditions the generation of the report.
		return nil
	}
	wanted := apply.StampedConditions(present, apply.Stamp{Generation: deployment.Generation, Now: s.Clock.Now()}, *s.programmed)
	return apply.Conditions(ctx, s.Client, FieldManager, deployment, wanted...)
}
