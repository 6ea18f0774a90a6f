// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// keepService keeps the generation of a service that is not changed: a change of other fields makes no newer service.
func keepService(existing, desired *v1alpha.WorkloadDeployment) {
	before, wanted := &existing.Spec, &desired.Spec
	if wanted.Service != nil && before.ServiceGeneration > 0 && equality.Semantic.DeepEqual(before.Service, wanted.Service) {
		wanted.ServiceGeneration = before.ServiceGeneration
	}
}

// nameRoutes gives deployments that are reached at Gateways the names that no other project can have.
func (s *scope) nameRoutes() {
	if !s.workload.Spec.Service.Routed() {
		return
	}
	names := s.Hostnames.Exclusive(
		naming.HostnameOf{Workload: s.workload.Name, Namespace: s.workload.Namespace, Project: s.project.Name}, s.workload.Spec.Service.Hostnames)
	slices.Sort(names)
	for _, desired := range s.plan.deployments {
		desired.Spec.Service.Hostnames = names
	}
}

// addService sets condition ServiceProgrammed in status, or removes it from a Workload without a service.
func (s *scope) addService(status *v1alpha.WorkloadStatus) {
	if s.workload.Spec.Service == nil {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionServiceProgrammed)
		return
	}
	var all []*v1alpha.WorkloadDeployment
	for i := range s.workload.Spec.Placements {
		all = append(all, s.deploymentsOf(s.workload.Spec.Placements[i].Name)...)
	}
	condition := serviceProgrammed(all)
	if len(s.keepsExposure) > 0 {
		condition = exposureKept(s.workload.Spec.Service.Exposure, s.keepsExposure)
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
