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
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// addShortfall adds to status how many of the desired Instances are assigned to no cell. The cells cannot report it:
// they report only the Instances that are assigned to them.
func (s *facts) addShortfall(status *v1alpha.WorkloadDeploymentStatus, refusal string) {
	missing := s.deployment.Spec.DesiredReplicas() - s.assigned()
	if missing <= 0 {
		return
	}
	status.DesiredReplicas = s.deployment.Spec.DesiredReplicas()
	reason := v1alpha.ReasonReplicasNotReady
	message := fmt.Sprintf("%s not assigned to the cells of %s yet",
		reasons.Count(missing, "Instance is", "Instances are"), s.deployment.Spec.CityCode)
	if refusal != "" {
		reason, message = s.noRoom(refusal)
		s.addUnscheduled(status, reason, message)
	}
	// The transition times come from the project's object: the cells' conditions of these types have another meaning.
	for _, condition := range apply.StampedConditions(s.deployment.Status.Conditions,
		apply.Stamp{Generation: status.ObservedGeneration, Now: s.now},
		metav1.Condition{
			Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionFalse, Reason: reason, Message: message,
		},
		metav1.Condition{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonRollingOut, Message: message},
	) {
		meta.RemoveStatusCondition(&status.Conditions, condition.Type)
		status.Conditions = append(status.Conditions, condition)
	}
	slices.SortFunc(status.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
}

// addUnscheduled adds that Karmada has found no cell for Instances, since it found none.
func (s *facts) addUnscheduled(status *v1alpha.WorkloadDeploymentStatus, reason, message string) {
	s.set(status, metav1.Condition{
		Type: v1alpha.ConditionScheduled, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	}, path.RefusedSince(s.row.Binding))
}

// noRoom describes why Karmada has scheduled no Instance. A taint, as of karmadactl cordon, is not a lack of capacity.
func (s *facts) noRoom(refusal string) (reason, message string) {
	if path.TakeNone(refusal) {
		return v1alpha.ReasonCellsTainted, fmt.Sprintf("the cells of %s take no new Instances: %s; an operator removes the taint, "+
			"for example with karmadactl uncordon", s.deployment.Spec.CityCode, strings.TrimSuffix(refusal, "."))
	}
	return v1alpha.ReasonNoCapacity, fmt.Sprintf("the cells of %s do not have enough capacity: %s; ask for fewer or smaller Instances; "+
		"it is tried again when a cell has more room, and otherwise after at most 17 minutes",
		s.deployment.Spec.CityCode, strings.TrimSuffix(refusal, "."))
}

// assigned returns how many Instances are assigned to cells, without the Instances that only an autoscaler may request.
func (s *facts) assigned() int32 {
	assignment := s.copied.Spec.Assignment
	if assignment == nil {
		return s.deployment.Spec.DesiredReplicas()
	}
	var count int32
	for i := range assignment.Cells {
		if least := assignment.Cells[i].MinReplicas; least != nil {
			count += *least
			continue
		}
		for _, r := range assignment.Cells[i].Indices {
			count += r.Last - r.First + 1
		}
	}
	return count
}

// mostAssigned is the number of Instances that the assignment lets cells run, including Instances that only an
// autoscaler may request.
func (s *facts) mostAssigned() int32 {
	assignment := s.copied.Spec.Assignment
	if assignment == nil {
		return naming.MaxIndex + 1
	}
	var count int32
	for i := range assignment.Cells {
		for _, r := range assignment.Cells[i].Indices {
			count += r.Last - r.First + 1
		}
	}
	return count
}
