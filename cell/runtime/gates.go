// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Find determines the requirements that an Instance of a deployment waits for: its conditions QuotaGranted and, if it
// names data, ReferencedDataReady.
func findGates(
	ctx context.Context, reader client.Reader, deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance,
) ([]metav1.Condition, error) {
	found := []metav1.Condition{quotaGranted(deployment, instance)}
	needed, optional := templates.DataObjects(&instance.Spec)
	if len(needed) == 0 && len(optional) == 0 {
		return found, nil
	}
	missing, err := MissingData(ctx, reader, deployment, &instance.Spec)
	if err != nil {
		return nil, err
	}
	return append(found, dataReady(missing)), nil
}

// Kept are the existing conditions of an Instance of the types that Find returns.
func keptGates(instance *v1alpha.Instance) []metav1.Condition {
	var kept []metav1.Condition
	for _, kind := range []string{v1alpha.ConditionQuotaGranted, v1alpha.ConditionReferencedDataReady} {
		if condition := meta.FindStatusCondition(instance.Status.Conditions, kind); condition != nil {
			kept = append(kept, *condition)
		}
	}
	return kept
}

// Left are the scheduling gates that still hold an Instance, according to the conditions of Find; lifted reports that
// these are fewer than the Instance has. A withdrawn grant, or deleted data, does not set a gate again: a running
// Instance keeps running.
func gatesLeft(
	deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance, found []metav1.Condition,
) (left []v1alpha.SchedulingGate, lifted bool) {
	networks := deployment.Spec.Networks
	present := map[string]bool{
		v1alpha.GateQuota:          meta.IsStatusConditionTrue(found, v1alpha.ConditionQuotaGranted),
		v1alpha.GateNetwork:        networks == nil || networks.Ready,
		v1alpha.GateReferencedData: meta.IsStatusConditionTrue(found, v1alpha.ConditionReferencedDataReady),
	}
	existing := instance.SchedulingGates()
	left = slices.DeleteFunc(slices.Clone(existing), func(gate v1alpha.SchedulingGate) bool { return present[gate.Name] })
	return left, len(left) < len(existing)
}
