// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package disruption

import (
	"strconv"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// desiredBudget is the PodDisruptionBudget of a deployment with this floor. confirmed is the sequence of the last floor for which all Pods
// of Available Instances were protected; 0: none.
func desiredBudget(deployment *v1alpha.WorkloadDeployment, floor *v1alpha.AvailabilityFloor, confirmed int64) *policyv1.PodDisruptionBudget {
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{
			Name: deployment.Name, Namespace: deployment.Namespace,
			// The cache selects budgets by this label.
			Labels:          map[string]string{v1alpha.LabelDeploymentName: deployment.Name},
			OwnerReferences: []metav1.OwnerReference{deployment.ControllerReference()},
		},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(floor.MinAvailable)),
			// A Pod that was ready for less than minReadySeconds has no label: it neither counts nor is it protected.
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{
				v1alpha.LabelDeploymentName: deployment.Name, v1alpha.LabelProtected: v1alpha.ProtectedTrue,
			}},
			// The disruption of an Instance that does not serve takes nothing from the budget.
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
	if confirmed > 0 {
		budget.Annotations = map[string]string{v1alpha.AnnotationFloorSequence: strconv.FormatInt(confirmed, 10)}
	}
	return budget
}

// confirmed is the sequence in the annotation of a budget; 0: there is none.
func confirmed(budget *policyv1.PodDisruptionBudget) int64 {
	sequence, err := strconv.ParseInt(budget.Annotations[v1alpha.AnnotationFloorSequence], 10, 64)
	if err != nil || sequence < 0 {
		return 0
	}
	return sequence
}

// InForce returns the sequence of the floor that a budget enforces, and 0 if it enforces none. settled is false while Kubernetes has not
// processed the last change of the budget: until then it refuses all evictions, and the floor before is still in force.
func InForce(budget *policyv1.PodDisruptionBudget) (sequence int64, settled bool) {
	return confirmed(budget), budget.Status.ObservedGeneration >= budget.Generation
}
