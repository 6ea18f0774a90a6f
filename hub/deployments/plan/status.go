// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Summary is the status of a Workload.
type Summary struct {
	Status v1alpha.WorkloadStatus
	// Events are about what differs from the status before.
	Events []Event
	// Again is after what time another plan is due without an event.
	Again pace.After
}

// summary is a plan with the deployments as its writes have left them.
type summary struct {
	Plan
	events []Event
}

// Status sums up the deployments as they are stored after the writes of the plan.
func (p *Plan) Status(stored map[string]*v1alpha.WorkloadDeployment) (Summary, error) {
	s := &summary{Plan: *p}
	s.deployments = stored
	if !p.Workload.DeletionTimestamp.IsZero() {
		return Summary{Status: s.ofDeletion(), Again: s.Again}, nil
	}
	if err := s.decide(); err != nil {
		return Summary{}, err
	}
	s.explainDrains()
	status, err := s.status()
	if err != nil {
		return Summary{}, err
	}
	s.compare(&status)
	return Summary{Status: status, Events: s.events, Again: s.Again}, nil
}

// ofDeletion shows in the status of a Workload that is being deleted that no city is offered any more, and until when traffic leaves.
func (s *summary) ofDeletion() v1alpha.WorkloadStatus {
	status := *s.Workload.Status.DeepCopy()
	if len(status.Endpoints) > 0 {
		status.Endpoints = endpointsOf(s.deployments)
	}
	if message := s.describeLeaving(); message != "" {
		status.Conditions = apply.MergedConditions(status.Conditions, s.stamp(), metav1.Condition{
			Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonTrafficLeaves, Message: message,
		})
	}
	return status
}

// status is the status of a Workload that is not being deleted.
func (s *summary) status() (v1alpha.WorkloadStatus, error) {
	before := &s.Workload.Status
	status := v1alpha.WorkloadStatus{ObservedGeneration: s.Workload.Generation, Data: before.Data, Hostnames: before.Hostnames}
	if len(s.Unread) > 0 {
		// No Instance gets the newest template yet.
		status.ObservedGeneration = min(status.ObservedGeneration, before.ObservedGeneration)
	}
	available, unsettled := s.addPlacements(&status)
	progressing := s.addProgress(&status, unsettled)
	s.addRollout(&status, &progressing)
	degraded, err := s.degraded(status.Rollout, &available, &progressing)
	if err != nil {
		return status, err
	}
	if progressing.Reason == v1alpha.ReasonProgressDeadlineExceeded {
		// Clients that wait for the newest generation must see that it does not come.
		status.ObservedGeneration = s.Workload.Generation
	}
	generic := generic(&available, &progressing, status.Rollout)
	wanted := slices.Concat([]metav1.Condition{available, progressing, degraded}, generic, s.typeConditions())
	status.Conditions = apply.MergedConditions(before.Conditions, s.stamp(), wanted...)
	if len(generic) == 1 {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionStalled)
	}
	s.addScheduled(&status)
	s.addBudget(&status)
	s.addService(&status)
	status.Endpoints = endpointsOf(s.deployments)
	return status, nil
}

// addPlacements adds the placements and their counts to status. It returns condition Available, and the deployments that have
// changes left to make.
func (s *summary) addPlacements(status *v1alpha.WorkloadStatus) (available metav1.Condition, unsettled []*v1alpha.WorkloadDeployment) {
	var worst *metav1.Condition
	var all tally
	for i := range s.Workload.Spec.Placements {
		placement, counted := s.placementStatus(&s.Workload.Spec.Placements[i])
		all.add(counted)
		for _, deployment := range s.deploymentsOf(placement.Name) {
			status.Deployments++
			status.Suspended = status.Suspended || deployment.Status.Suspended
			if !settled(deployment) {
				unsettled = append(unsettled, deployment)
			}
		}
		condition := meta.FindStatusCondition(placement.Conditions, v1alpha.ConditionAvailable)
		if condition.Status != metav1.ConditionTrue && worse(condition, worst) {
			worst = condition
		}
		status.ReplicaCounts = status.Add(placement.ReplicaCounts)
		status.Placements = append(status.Placements, placement)
	}
	return s.workloadAvailable(all, worst, status.Placements), unsettled
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

// deploymentsOf returns the deployments of a placement that the Workload requests, by name, without the ones of cities that were replaced.
func (s *summary) deploymentsOf(placement string) []*v1alpha.WorkloadDeployment {
	var result []*v1alpha.WorkloadDeployment
	for _, deployment := range s.deployments {
		if deployment.Spec.PlacementName == placement && s.wants(deployment) && !isReplacedIn(s.phaseOf(deployment)) {
			result = append(result, deployment)
		}
	}
	slices.SortFunc(result, func(a, b *v1alpha.WorkloadDeployment) int { return strings.Compare(a.Name, b.Name) })
	return result
}

func (s *summary) stamp() apply.Stamp {
	return apply.Stamp{Generation: s.Workload.Generation, Now: s.Now}
}
