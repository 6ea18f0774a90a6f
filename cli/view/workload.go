// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// deletesWithin is how long the deletion of a Workload takes at most while the add-on runs and all cells are reached.
const deletesWithin = 2 * time.Minute

// IsDeleting reports whether the Workload is being deleted.
func (s *Snapshot) IsDeleting() bool {
	return s.Workload != nil && !s.Workload.DeletionTimestamp.IsZero()
}

// faultOfAll returns the step of a Workload with a fault as a whole; nil: it has none.
func (s *Snapshot) faultOfAll() *Step {
	found := s.workloadFinding()
	if found == nil {
		return nil
	}
	return &Step{
		Plane: planeProject, Kind: v1alpha.KindWorkload, Namespace: s.Namespace, Name: s.Name, State: StateNotReady, Finding: found,
	}
}

// workloadFinding returns the fault of the Workload as a whole although all of its Instances are Ready, or nil: it is
// being deleted, or its progress deadline has passed.
func (s *Snapshot) workloadFinding() *Finding {
	if s.Workload == nil {
		return nil
	}
	conditions := s.Workload.Status.Conditions
	progressing := meta.FindStatusCondition(conditions, v1alpha.ConditionProgressing)
	if s.IsDeleting() {
		if progressing != nil && progressing.Reason == v1alpha.ReasonTrafficLeaves && len(s.Deployments) > 0 {
			return findingOf(progressing, at(s.Now, conditions))
		}
		found := &Finding{
			Reason: "Deleting", Message: "the Workload is being deleted; its Instances run until the add-on has withdrawn them from the cells",
			Since: s.Workload.DeletionTimestamp, Actor: reasons.ActorNobody,
		}
		if s.Now.Sub(found.Since.Time) > deletesWithin {
			found.Actor = reasons.ActorOperator
			found.Do = "Check that replicas of karmada-compute run on the host, and that the hub reaches the cells."
		}
		return found
	}
	if progressing == nil || !wrong(progressing) {
		return nil
	}
	return findingOf(progressing, at(s.Now, conditions))
}

// withStateOf gives the step the state of a node.
func (s *Step) withStateOf(n *Node) *Step {
	s.State, s.Finding, s.warnings = n.State, n.Finding, n.warnings
	return s
}

// stopsAt returns a Way that ends at the object of a step, whatever the Instances do.
func stopsAt(step *Step, now time.Time) *Way {
	return &Way{Kind: step.Kind, Name: step.Name, Steps: []*Step{step}, Stop: step, now: now}
}

// refusalOf returns the step of a deployment whose template a cell refuses although all Instances are Ready: they keep
// the earlier one. It is nil otherwise.
func refusalOf(d *v1alpha.WorkloadDeployment, now time.Time) *Step {
	accepted := meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionTemplateAccepted)
	if accepted == nil || accepted.Status != metav1.ConditionFalse {
		return nil
	}
	return &Step{
		Plane: planeProject, Kind: v1alpha.KindWorkloadDeployment, Namespace: d.Namespace, Name: d.Name, State: deploymentNode(d, now).State,
		Finding: findingOf(accepted, at(now, d.Status.Conditions)),
	}
}
