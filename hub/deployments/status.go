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
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

func (s *scope) writeStatus(ctx context.Context) error {
	// The deployments are now as this reconcile has left them.
	if err := s.decide(ctx); err != nil {
		return err
	}
	status, err := s.desiredStatus(ctx)
	if err != nil {
		return err
	}
	before := &s.workload.Status
	if equality.Semantic.DeepEqual(*before, status) {
		s.Passing.Done(s.request)
		return nil
	}
	if !cities.ServingChanged(before.Endpoints, status.Endpoints) &&
		wire.Passing(before.ReplicaCounts, status.ReplicaCounts, before.Conditions, status.Conditions) {
		if wait := s.Passing.Wait(s.request); wait > 0 {
			s.requeueAfter.AtMost(wait)
			return nil
		}
	}
	if err := s.storeFirst(ctx, &status); err != nil {
		return err
	}
	next := s.workload.DeepCopy()
	next.Status = ownPart(&status)
	if err := apply.Status(ctx, s.client, FieldManager, next); err != nil {
		return err
	}
	next.Status = status
	s.Passing.Done(s.request)
	// The Events are about the change that is written now: a retry would repeat the ones of a change that was not.
	s.warnOfMissing(status)
	s.tellOfAvailability(status)
	s.tellOfProgress(status)
	s.tellOfRollout(&status)
	s.warnOfType(status)
	s.workload = next
	return nil
}

// desiredStatus summarizes the deployments' status.
func (s *scope) desiredStatus(ctx context.Context) (v1alpha.WorkloadStatus, error) {
	before := &s.workload.Status
	status := v1alpha.WorkloadStatus{ObservedGeneration: s.workload.Generation, Data: before.Data, Hostnames: before.Hostnames}
	if len(s.unread) > 0 {
		// No Instance gets the newest template yet.
		status.ObservedGeneration = min(status.ObservedGeneration, s.workload.Status.ObservedGeneration)
	}
	var worst *metav1.Condition
	var unsettled []*v1alpha.WorkloadDeployment
	var all tally
	for i := range s.workload.Spec.Placements {
		name := s.workload.Spec.Placements[i].Name
		placement, counted := s.placementStatus(&s.workload.Spec.Placements[i])
		all.add(counted)
		for _, deployment := range s.deploymentsOf(name) {
			status.Deployments++
			status.Suspended = status.Suspended || deployment.Status.Suspended
			if !settled(deployment) {
				unsettled = append(unsettled, deployment)
			}
		}
		available := meta.FindStatusCondition(placement.Conditions, v1alpha.ConditionAvailable)
		if available.Status != metav1.ConditionTrue && worse(available, worst) {
			worst = available
		}
		status.ReplicaCounts = status.Add(placement.ReplicaCounts)
		status.Placements = append(status.Placements, placement)
	}
	available, progressing := s.workloadAvailable(all, worst, status.Placements), s.addProgress(&status, unsettled)
	s.addRollout(&status, &progressing)
	degraded, err := s.degraded(ctx, status.Rollout)
	if err != nil {
		return status, err
	}
	if progressing.Reason == v1alpha.ReasonProgressDeadlineExceeded {
		// Clients that wait for the newest generation must see that it does not come.
		status.ObservedGeneration = s.workload.Generation
	}
	summary := generic(&available, &progressing, status.Rollout)
	wanted := slices.Concat([]metav1.Condition{available, progressing}, summary, degraded, s.typeConditions())
	status.Conditions = apply.MergedConditions(s.workload.Status.Conditions, s.stamp(), wanted...)
	if len(summary) == 1 {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionStalled)
	}
	s.addScheduled(&status)
	s.addBudget(&status)
	s.addService(&status)
	s.addEndpoints(&status)
	return status, nil
}

// ofAll reports whether a reason holds for all placements: its cause concerns the whole Workload.
func ofAll(reason string) bool {
	return reason == v1alpha.ReasonProjectSuspended || reason == v1alpha.ReasonNetworkNotFound
}

// worse reports whether a condition that is not True is more informative than the present worst one: unavailability is
// uncertain while the state of one part is unknown. A suspension comes first: it concerns the whole project. Of other
// conditions, the one with the more specific reason wins.
func worse(condition, worst *metav1.Condition) bool {
	return worst == nil || weight(condition) > weight(worst)
}

func weight(condition *metav1.Condition) int {
	const unknown, suspended = 100, 200
	remedy, _ := reasons.Of(v1alpha.ConditionAvailable, condition.Reason)
	switch {
	case condition.Reason == v1alpha.ReasonProjectSuspended:
		return suspended
	case condition.Status == metav1.ConditionUnknown:
		return unknown
	}
	return int(remedy.Rank)
}

// describe joins the messages of the placements.
func describe(placements []v1alpha.WorkloadPlacementStatus) string {
	var messages []string
	for i := range placements {
		if condition := meta.FindStatusCondition(placements[i].Conditions, v1alpha.ConditionAvailable); condition.Message != "" {
			messages = append(messages, fmt.Sprintf("placement %s: %s", placements[i].Name, condition.Message))
		}
	}
	return strings.Join(messages, "; ")
}

// withData returns the condition with the message of ReferencedDataReady added, if missing data blocks the deployment.
func withData(available *metav1.Condition, deployment *v1alpha.WorkloadDeployment) *metav1.Condition {
	data := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionReferencedDataReady)
	if available.Reason != v1alpha.ReasonReferencedDataNotReady || data == nil || data.Status == metav1.ConditionTrue {
		return available
	}
	result := available.DeepCopy()
	result.Message += "; " + data.Message
	return result
}

// withUnconfirmed returns the condition with the messages of all deployments whose cells have not confirmed that the
// suspension has stopped them. It omits none of them.
func withUnconfirmed(suspended *metav1.Condition, deployments []*v1alpha.WorkloadDeployment) *metav1.Condition {
	var messages []string
	for _, deployment := range deployments {
		if condition := meta.FindStatusCondition(deployment.Status.Conditions,
			v1alpha.ConditionSuspended); condition != nil && condition.Status != metav1.ConditionTrue {
			messages = append(messages, condition.Message)
		}
	}
	if len(messages) == 0 {
		return suspended
	}
	result := suspended.DeepCopy()
	result.Message = strings.Join(messages, "; ")
	return result
}

// deploymentsOf returns the deployments of a placement that the Workload requests, by name.
func (s *scope) deploymentsOf(placement string) []*v1alpha.WorkloadDeployment {
	var result []*v1alpha.WorkloadDeployment
	for _, deployment := range s.existing {
		if deployment.Spec.PlacementName == placement && s.plan.wants(deployment) {
			result = append(result, deployment)
		}
	}
	slices.SortFunc(result, func(a, b *v1alpha.WorkloadDeployment) int { return strings.Compare(a.Name, b.Name) })
	return result
}

func (s *scope) stamp() apply.Stamp {
	return apply.Stamp{Generation: s.workload.Generation, Now: s.Clock.Now()}
}

// warnOfMissing records an event when a city or location is missing, once per change of the message.
func (s *scope) warnOfMissing(next v1alpha.WorkloadStatus) {
	before := meta.FindStatusCondition(s.workload.Status.Conditions, v1alpha.ConditionAvailable)
	after := meta.FindStatusCondition(next.Conditions, v1alpha.ConditionAvailable)
	if len(s.plan.missing) == 0 || (before != nil && before.Message == after.Message) {
		return
	}
	s.events.Eventf(s.workload, corev1.EventTypeWarning, v1alpha.ReasonNoMatchingLocation, "%s", after.Message)
}
