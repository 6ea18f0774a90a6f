// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// maxUnconfirmed is how many cells a message names.
const maxUnconfirmed = 5

// addSuspension reports that the project is suspended, and which cells have not confirmed that nothing runs there any
// more. The hub reports it, since a cell that is not reached cannot.
func (s *facts) addSuspension(status *v1alpha.WorkloadDeploymentStatus) {
	status.Suspended = s.copied.Spec.Suspended
	if !s.copied.Spec.Suspended {
		s.endSuspension(status)
		return
	}
	city := s.deployment.Spec.CityCode
	message := fmt.Sprintf("the project is suspended; nothing of it runs in %s any more", city)
	progressing, stopped, reason := metav1.ConditionFalse, metav1.ConditionTrue, v1alpha.ReasonProjectSuspended
	if unconfirmed, stopping := s.unconfirmed(); len(unconfirmed) > 0 {
		progressing, stopped, reason = metav1.ConditionTrue, metav1.ConditionFalse, v1alpha.ReasonNotConfirmed
		if stopping == len(unconfirmed) {
			reason = v1alpha.ReasonSuspending
		}
		if more := len(unconfirmed) - maxUnconfirmed; more > 0 {
			unconfirmed = append(unconfirmed[:maxUnconfirmed], fmt.Sprintf("%d more", more))
		}
		message = fmt.Sprintf("the project is suspended; in %s that is not confirmed by %s", city, strings.Join(unconfirmed, ", "))
	}
	message = reasons.Shorten(message, 2*v1alpha.MaxMessage)
	for _, condition := range []metav1.Condition{
		{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProjectSuspended},
		{Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProjectSuspended},
		{Type: v1alpha.ConditionProgressing, Status: progressing, Reason: reason},
		{Type: v1alpha.ConditionSuspended, Status: stopped, Reason: reason},
	} {
		condition.Message = message
		s.set(status, condition, s.now)
	}
}

// endSuspension drops the cells' reports from the suspension, until they report again.
func (s *facts) endSuspension(status *v1alpha.WorkloadDeploymentStatus) {
	meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionSuspended)
	for _, condition := range []metav1.Condition{
		{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonInstancesProvisioning},
		{Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonReplicasNotReady},
		{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonRollingOut},
	} {
		before := meta.FindStatusCondition(status.Conditions, condition.Type)
		if before == nil || before.Reason != v1alpha.ReasonProjectSuspended && before.Reason != v1alpha.ReasonSuspending {
			continue
		}
		condition.Message = fmt.Sprintf("the project was resumed; waiting for the cells of %s to start its Instances", s.deployment.Spec.CityCode)
		s.set(status, condition, s.now)
	}
}

// unconfirmed returns the cells that have, or may have, the deployment and have not confirmed that nothing of it runs,
// each with the reason, and how many of them are just stopping it. A cell that is lost permanently is not among them.
func (s *facts) unconfirmed() (cells []string, stopping int) {
	for _, name := range s.concerned() {
		cell, exists := s.row.Cells.Find(name)
		reported := s.row.Report(name)
		current := reported != nil && reported.ResourceTemplateGeneration == s.copied.Generation &&
			reported.ObservedGeneration == reported.Generation
		why := "has not reported yet"
		switch {
		case cell.Gone || current && reported.Suspended():
			continue
		case !exists || !cell.Ready:
			why = "Karmada does not reach it, so it may still run Instances and stops them when it is back"
		case cell.Agent.Down:
			why = "its agent does not run: " + cell.Agent.Message
		case current:
			why = "is stopping its Instances"
			stopping++
		}
		cells = append(cells, fmt.Sprintf("cell %s (%s)", name, why))
	}
	return cells, stopping
}

// concerned returns the cells that the deployment is assigned, bound or sent to, sorted: a former cell is among them
// until Karmada has removed the deployment there.
func (s *facts) concerned() []string {
	var names []string
	if assignment := s.copied.Spec.Assignment; assignment != nil {
		for i := range assignment.Cells {
			names = append(names, assignment.Cells[i].Name)
		}
	}
	if s.row.Binding != nil {
		for i := range s.row.Binding.Spec.Clusters {
			names = append(names, s.row.Binding.Spec.Clusters[i].Name)
		}
	}
	for name := range s.row.Works {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
