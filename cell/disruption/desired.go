// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package disruption

import (
	"strconv"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// desiredBudget is the PodDisruptionBudget of a deployment with this floor. complete reports that the Pods of all
// Available Instances count.
func desiredBudget(deployment *v1alpha.WorkloadDeployment, floor *v1alpha.AvailabilityFloor, complete bool) *policyv1.PodDisruptionBudget {
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{
			Name: deployment.Name, Namespace: deployment.Namespace,
			// The cache selects budgets by this label.
			Labels: map[string]string{
				v1alpha.LabelDeploymentName: deployment.Name, v1alpha.LabelWorkloadName: deployment.Spec.WorkloadRef.Name,
			},
			Annotations:     map[string]string{v1alpha.AnnotationFloorSequence: strconv.FormatInt(floor.Sequence, 10)},
			OwnerReferences: []metav1.OwnerReference{deployment.ControllerReference()},
		},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(floor.MinAvailable)),
			// A Pod that was ready for less than minReadySeconds has no label: it neither counts nor is it protected.
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{
				v1alpha.LabelDeploymentName: deployment.Name, v1alpha.LabelProtected: v1alpha.ProtectedTrue,
			}},
			// The disruption of an Instance that does not serve uses nothing of the budget.
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
	if complete {
		budget.Annotations[v1alpha.AnnotationFloorComplete] = "true"
	}
	return budget
}

// InForce is the floor of a budget; nil: it has none.
func InForce(budget *policyv1.PodDisruptionBudget) *v1alpha.AvailabilityFloor {
	sequence, err := strconv.ParseInt(budget.Annotations[v1alpha.AnnotationFloorSequence], 10, 64)
	if err != nil || sequence < 1 || budget.Spec.MinAvailable == nil || budget.Spec.MinAvailable.Type != intstr.Int {
		return nil
	}
	return &v1alpha.AvailabilityFloor{MinAvailable: budget.Spec.MinAvailable.IntVal, Sequence: sequence}
}

// IsEnforced reports whether Kubernetes enforces the budget in its current version, and counts no Pod whose eviction an
// earlier floor has allowed.
func IsEnforced(budget *policyv1.PodDisruptionBudget) bool {
	return complete(budget) && processed(budget) && len(budget.Status.DisruptedPods) == 0
}

func complete(budget *policyv1.PodDisruptionBudget) bool {
	return budget.Annotations[v1alpha.AnnotationFloorComplete] == "true"
}

// processed reports whether Kubernetes has processed the last change of a budget. It refuses all evictions before.
func processed(budget *policyv1.PodDisruptionBudget) bool {
	return budget.Status.ObservedGeneration >= budget.Generation
}

// newest is the floor that the cell applies: its budget's floor, unless the deployment has one with a higher sequence.
// The deployment may be an older version, from a stale cache or a hub that was restored from a backup. A sequence that
// no hub has issued does not count: another party wrote it.
func newest(existing *policyv1.PodDisruptionBudget, wanted *v1alpha.AvailabilityFloor) *v1alpha.AvailabilityFloor {
	if present := InForce(existing); present != nil && present.Sequence > wanted.Sequence && present.Sequence <= budget.MaxSequence {
		return present
	}
	return wanted
}
