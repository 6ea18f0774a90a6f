// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// addService sets condition ServiceProgrammed in status, or removes it from a Workload without a service.
func (s *summary) addService(status *v1alpha.WorkloadStatus) {
	if s.Workload.Spec.Service == nil {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionServiceProgrammed)
		return
	}
	var all []*v1alpha.WorkloadDeployment
	for i := range s.Workload.Spec.Placements {
		all = append(all, s.deploymentsOf(s.Workload.Spec.Placements[i].Name)...)
	}
	condition := serviceProgrammed(all)
	if len(s.KeepsExposure) > 0 {
		condition = exposureKept(s.Workload.Spec.Service.Exposure, s.KeepsExposure)
	}
	status.Conditions = apply.MergedConditions(status.Conditions, s.stamp(), condition)
}

// serviceProgrammed sums up the conditions of the deployments: a fault in one cell comes before a cell that has not
// reported yet.
func serviceProgrammed(deployments []*v1alpha.WorkloadDeployment) metav1.Condition {
	result := metav1.Condition{
		Type: v1alpha.ConditionServiceProgrammed, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonServiceProgrammed,
	}
	var faults, waiting []string
	for _, deployment := range deployments {
		found := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionServiceProgrammed)
		switch {
		case found == nil && deployment.Spec.ScaleSettings.Zero():
			// No cell need have a deployment without Instances.
		case found == nil || found.Status == metav1.ConditionUnknown:
			waiting = append(waiting, deployment.Name)
		case found.Status == metav1.ConditionFalse:
			if len(faults) == 0 {
				result.Reason = found.Reason
			}
			faults = append(faults, deployment.Name+": "+found.Message)
		}
	}
	switch {
	case len(faults) > 0:
		result.Status, result.Message = metav1.ConditionFalse, strings.Join(faults, "; ")
	case len(waiting) > 0 || len(deployments) == 0:
		result.Status, result.Reason = metav1.ConditionUnknown, v1alpha.ReasonServicePending
		result.Message = "the cells have not reported on the Service"
		if len(waiting) > 0 {
			result.Message = fmt.Sprintf("the cells of %s have not reported on the Service", strings.Join(waiting, ", "))
		}
	}
	result.Message = reasons.Shorten(result.Message, v1alpha.MaxMessage)
	return result
}
