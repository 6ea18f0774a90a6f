// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Suspension is the suspension of a project whose objects do not show it, because its control plane refuses every write of a
// status.
type Suspension struct {
	// Message for the user.
	Message string
	// Since is when the project was suspended, or zero.
	Since metav1.Time
}

// ShowsSuspension reports whether the objects themselves show that the project is suspended.
func (s *Snapshot) ShowsSuspension() bool {
	return slices.ContainsFunc(s.Deployments, func(d v1alpha.WorkloadDeployment) bool {
		return meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionSuspended) != nil
	})
}

// Suspend overrides the findings of the objects: the project is suspended, and its objects show the state before the suspension.
// No Instance counts as Ready.
func (s *Snapshot) Suspend(suspension Suspension) {
	suspend := func(conditions *[]metav1.Condition, kinds ...string) {
		*conditions = slices.Clone(*conditions)
		for _, kind := range kinds {
			meta.RemoveStatusCondition(conditions, kind)
			*conditions = append(*conditions, metav1.Condition{
				Type: kind, Status: metav1.ConditionUnknown, Reason: v1alpha.ReasonProjectSuspended, Message: suspension.Message,
				LastTransitionTime: suspension.Since,
			})
		}
	}
	if s.Workload != nil {
		s.Workload = s.Workload.DeepCopy()
		status := &s.Workload.Status
		status.ReadyReplicas, status.AvailableReplicas = 0, 0
		suspend(&status.Conditions, v1alpha.ConditionAvailable)
		for i := range status.Placements {
			status.Placements[i].ReadyReplicas, status.Placements[i].AvailableReplicas = 0, 0
			suspend(&status.Placements[i].Conditions, v1alpha.ConditionAvailable)
		}
	}
	for i := range s.Deployments {
		s.Deployments[i].Status.ReadyReplicas, s.Deployments[i].Status.AvailableReplicas = 0, 0
		suspend(&s.Deployments[i].Status.Conditions, v1alpha.ConditionAvailable, v1alpha.ConditionReplicasReady)
	}
	for i := range s.Instances {
		suspend(&s.Instances[i].Status.Conditions, v1alpha.ConditionReady)
	}
}
