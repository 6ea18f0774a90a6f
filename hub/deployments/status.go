// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

func (p *pass) writeStatus(ctx context.Context) error {
	status := p.desiredStatus()
	if equality.Semantic.DeepEqual(p.workload.Status, status) {
		return nil
	}
	p.tellOfMissing(status)
	update := p.workload.DeepCopy()
	update.Status = status
	return apply.Status(ctx, p.client, Owner, update)
}

// desiredStatus sums what the deployments report.
func (p *pass) desiredStatus() v1alpha.WorkloadStatus {
	status := v1alpha.WorkloadStatus{
		ObservedGeneration: p.workload.Generation,
		Conditions:         slices.Clone(p.workload.Status.Conditions),
	}
	var worst *metav1.Condition
	anyAvailable, progressing := false, false
	for i := range p.workload.Spec.Placements {
		name := p.workload.Spec.Placements[i].Name
		placement := p.placementStatus(name)
		for _, deployment := range p.deploymentsOf(name) {
			status.Deployments++
			progressing = progressing || !settled(deployment)
		}
		available := meta.FindStatusCondition(placement.Conditions, v1alpha.ConditionAvailable)
		if available.Status == metav1.ConditionTrue {
			anyAvailable = true
		} else if worst == nil {
			worst = available
		}
		status.ReplicaCounts = status.Add(placement.ReplicaCounts)
		status.Placements = append(status.Placements, placement)
	}
	p.set(&status.Conditions, workloadAvailable(anyAvailable, worst, status.Placements))
	p.set(&status.Conditions, workloadProgressing(progressing))
	return status
}

func workloadAvailable(anyAvailable bool, worst *metav1.Condition, placements []v1alpha.WorkloadPlacementStatus) metav1.Condition {
	if !anyAvailable {
		reason := v1alpha.ReasonNoAvailablePlacements
		if len(placements) == 1 {
			reason = worst.Reason
		}
		return metav1.Condition{
			Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: reason, Message: describe(placements),
		}
	}
	return metav1.Condition{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue,
		Reason: v1alpha.ReasonAvailablePlacementFound, Message: describe(placements),
	}
}

// describe puts the messages of all placements that have something to say into one.
func describe(placements []v1alpha.WorkloadPlacementStatus) string {
	var messages []string
	for i := range placements {
		if condition := meta.FindStatusCondition(placements[i].Conditions, v1alpha.ConditionAvailable); condition.Message != "" {
			messages = append(messages, fmt.Sprintf("placement %s: %s", placements[i].Name, condition.Message))
		}
	}
	return strings.Join(messages, "; ")
}

func workloadProgressing(progressing bool) metav1.Condition {
	if progressing {
		return metav1.Condition{
			Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue,
			Reason: v1alpha.ReasonRollingOut, Message: "Instances are being made, replaced or removed",
		}
	}
	return metav1.Condition{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonSettled}
}

func (p *pass) placementStatus(name string) v1alpha.WorkloadPlacementStatus {
	result := v1alpha.WorkloadPlacementStatus{Name: name}
	for i := range p.workload.Status.Placements {
		if p.workload.Status.Placements[i].Name == name {
			result.Conditions = slices.Clone(p.workload.Status.Placements[i].Conditions)
		}
	}
	deployments := p.deploymentsOf(name)
	available := false
	var worst *metav1.Condition
	for _, deployment := range deployments {
		result.ReplicaCounts = result.Add(deployment.Status.ReplicaCounts)
		condition := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionAvailable)
		switch {
		case condition == nil:
		case condition.Status == metav1.ConditionTrue:
			available = true
		case worst == nil:
			worst = withData(condition, deployment)
		}
	}
	p.set(&result.Conditions, p.placementAvailable(name, available, worst))
	return result
}

// withData is a condition whose message also says what is wrong with the data that holds the deployment.
func withData(available *metav1.Condition, deployment *v1alpha.WorkloadDeployment) *metav1.Condition {
	data := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionReferencedDataReady)
	if available.Reason != v1alpha.ReasonReferencedDataNotReady || data == nil || data.Status == metav1.ConditionTrue {
		return available
	}
	result := available.DeepCopy()
	result.Message += "; " + data.Message
	return result
}

func (p *pass) placementAvailable(name string, available bool, worst *metav1.Condition) metav1.Condition {
	condition := metav1.Condition{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonNoAvailableDeployments,
	}
	var messages []string
	if worst != nil {
		condition.Reason = worst.Reason
		messages = append(messages, worst.Message)
	}
	if missing := p.plan.missing[name]; len(missing) > 0 {
		if worst == nil {
			condition.Reason = v1alpha.ReasonNoMatchingLocation
		}
		messages = append(messages, describeMissing(missing, p.cities))
	}
	messages = append(messages, p.plan.blocked[name]...)
	if available {
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonAvailableDeploymentFound
	}
	condition.Message = strings.Join(messages, "; ")
	return condition
}

// deploymentsOf are the deployments of a placement that are to stay, in the order of their names.
func (p *pass) deploymentsOf(placement string) []*v1alpha.WorkloadDeployment {
	var result []*v1alpha.WorkloadDeployment
	for _, deployment := range p.existing {
		if deployment.Spec.PlacementName == placement && p.plan.wants(deployment) {
			result = append(result, deployment)
		}
	}
	slices.SortFunc(result, func(a, b *v1alpha.WorkloadDeployment) int { return strings.Compare(a.Name, b.Name) })
	return result
}

// settled says whether the cell has seen the newest deployment and has nothing left to change.
func settled(deployment *v1alpha.WorkloadDeployment) bool {
	progressing := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionProgressing)
	return deployment.Status.ObservedGeneration == deployment.Generation &&
		progressing != nil && progressing.Status == metav1.ConditionFalse
}

func (p *pass) set(conditions *[]metav1.Condition, condition metav1.Condition) {
	condition.ObservedGeneration = p.workload.Generation
	condition.LastTransitionTime = metav1.NewTime(p.Clock.Now()).Rfc3339Copy()
	meta.SetStatusCondition(conditions, condition)
}

// tellOfMissing sends an event when a city turns out not to be usable, once per change.
func (p *pass) tellOfMissing(next v1alpha.WorkloadStatus) {
	before := meta.FindStatusCondition(p.workload.Status.Conditions, v1alpha.ConditionAvailable)
	after := meta.FindStatusCondition(next.Conditions, v1alpha.ConditionAvailable)
	if len(p.plan.missing) == 0 || (before != nil && before.Message == after.Message) {
		return
	}
	p.events.Eventf(p.workload, nil, corev1.EventTypeWarning, v1alpha.ReasonNoMatchingLocation, "Place", "%s", after.Message)
}
