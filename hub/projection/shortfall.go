// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"
	"slices"
	"strings"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// refusal is why Karmada's scheduler finds no cells for a deployment, or "" when it does, or has not looked yet.
func refusal(binding *workv1alpha2.ResourceBinding) string {
	if binding == nil {
		return ""
	}
	condition := meta.FindStatusCondition(binding.Status.Conditions, workv1alpha2.Scheduled)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return ""
	}
	return condition.Message
}

// addShortfall says in a status of what is asked for and no cell has been given to run: cells can speak only of what they
// were given.
func (p *pass) addShortfall(status *v1alpha.WorkloadDeploymentStatus, refusal string) {
	missing := p.deployment.Spec.DesiredReplicas() - p.assigned()
	if missing <= 0 {
		return
	}
	status.DesiredReplicas = p.deployment.Spec.DesiredReplicas()
	message := fmt.Sprintf("%d Instances are still to be divided among the cells of %s", missing, p.deployment.Spec.CityCode)
	if refusal != "" {
		message = p.noRoom(refusal)
	}
	for _, condition := range []metav1.Condition{
		{Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonReplicasNotReady, Message: message},
		{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonRollingOut, Message: message},
	} {
		condition.ObservedGeneration = status.ObservedGeneration
		condition.LastTransitionTime = p.since(condition)
		meta.RemoveStatusCondition(&status.Conditions, condition.Type)
		status.Conditions = append(status.Conditions, condition)
	}
	slices.SortFunc(status.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
}

func (p *pass) noRoom(refusal string) string {
	return fmt.Sprintf("the cells of %s have no room for all of it: %s; ask for fewer or smaller Instances",
		p.deployment.Spec.CityCode, strings.TrimSuffix(refusal, "."))
}

// assigned is how many Instances the cells may run.
func (p *pass) assigned() int32 {
	assignment := p.copied.Spec.Assignment
	if assignment == nil {
		return p.deployment.Spec.DesiredReplicas()
	}
	var count int32
	for i := range assignment.Cells {
		for _, r := range assignment.Cells[i].Indices {
			count += r.Last - r.First + 1
		}
	}
	return count
}

// since is when the project's original began to say so, or now.
func (p *pass) since(condition metav1.Condition) metav1.Time {
	before := meta.FindStatusCondition(p.deployment.Status.Conditions, condition.Type)
	if before != nil && before.Status == condition.Status {
		return before.LastTransitionTime
	}
	return metav1.NewTime(p.Clock.Now()).Rfc3339Copy()
}
