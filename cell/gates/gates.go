// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package gates

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/cell/data"
)

// Find finds out what an Instance of a deployment waits for: its conditions QuotaGranted and, if it names data, ReferencedDataReady.
func Find(ctx context.Context, reader client.Reader, deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) ([]metav1.Condition, error) {
	found := []metav1.Condition{quotaGranted(deployment, instance)}
	needed, optional := v1alpha.DataObjects(&instance.Spec)
	if len(needed) == 0 && len(optional) == 0 {
		return found, nil
	}
	missing, err := data.Missing(ctx, reader, instance.Namespace, needed)
	if err != nil {
		return nil, err
	}
	return append(found, dataReady(missing)), nil
}

// Kept are the conditions that an Instance has of those that Find finds.
func Kept(instance *v1alpha.Instance) []metav1.Condition {
	var kept []metav1.Condition
	for _, kind := range []string{v1alpha.ConditionQuotaGranted, v1alpha.ConditionReferencedDataReady} {
		if condition := meta.FindStatusCondition(instance.Status.Conditions, kind); condition != nil {
			kept = append(kept, *condition)
		}
	}
	return kept
}

// Lift removes the gates of what is there, by what Find has found. A grant that is taken back, or data that is deleted, does not set a
// gate again: an Instance that runs keeps running.
func Lift(ctx context.Context, c client.Client, manager apply.FieldManager, instance *v1alpha.Instance, lifted map[string]bool) error {
	before := instance.DeepCopy()
	gates, changed := instance.SchedulingGates(), false
	for gate, lift := range lifted {
		if lift {
			var held bool
			gates, held = withoutGate(gates, gate)
			changed = changed || held
		}
	}
	if !changed {
		return nil
	}
	instance.Spec.Controller.SchedulingGates = gates
	// The patch replaces the whole list: the lock keeps it from setting a gate again that was lifted meanwhile.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, instance, patch, client.FieldOwner(manager)); err != nil {
		return fmt.Errorf("lift scheduling gates of Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	return nil
}

// Lifted says which gates hold the Instances of a deployment no longer, by what Find has found.
func Lifted(deployment *v1alpha.WorkloadDeployment, found []metav1.Condition) map[string]bool {
	networks := deployment.Spec.Networks
	return map[string]bool{
		v1alpha.GateQuota:          meta.IsStatusConditionTrue(found, v1alpha.ConditionQuotaGranted),
		v1alpha.GateNetwork:        networks == nil || networks.Ready,
		v1alpha.GateReferencedData: meta.IsStatusConditionTrue(found, v1alpha.ConditionReferencedDataReady),
	}
}
