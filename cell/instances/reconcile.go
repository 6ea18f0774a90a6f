// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/cell/data"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/cell/steps"
	"github.com/karmada-compute/karmada-compute/conditions"
)

// scope is the state of one reconcile of an Instance.
type scope struct {
	*Reconciler
	steps.Runner
	instance   *v1alpha.Instance
	deployment *v1alpha.WorkloadDeployment
	// found are the conditions that the steps have found.
	found []metav1.Condition
}

// Reconcile lifts the gates of one Instance.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{Reconciler: r, instance: &v1alpha.Instance{}}
	if err := r.Client.Get(ctx, request.NamespacedName, s.instance); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !s.instance.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	var err error
	if s.deployment, err = owned.Deployment(ctx, r.Client, s.instance); err != nil || s.deployment == nil {
		return reconcile.Result{}, err
	}
	return s.Run(ctx, s.findQuota, s.findData, s.liftGates, s.writeStatus)
}

func (s *scope) findQuota(context.Context) error {
	s.found = append(s.found, quotaGranted(s.deployment, s.instance))
	return nil
}

func (s *scope) findData(ctx context.Context) error {
	needed, optional := v1alpha.DataObjects(&s.instance.Spec)
	if len(needed) == 0 && len(optional) == 0 {
		return nil
	}
	missing, err := data.Missing(ctx, s.Client, s.instance.Namespace, needed)
	if err != nil {
		return err
	}
	s.found = append(s.found, dataReady(missing))
	return nil
}

// liftGates removes the gates of what is there. A grant that is taken back, or data that is deleted, does not set
// a gate again: an Instance that runs keeps running.
func (s *scope) liftGates(ctx context.Context) error {
	before := s.instance.DeepCopy()
	gates, changed := s.instance.SchedulingGates(), false
	networks := s.deployment.Spec.Networks
	for gate, lifted := range map[string]bool{
		v1alpha.GateQuota:          meta.IsStatusConditionTrue(s.found, v1alpha.ConditionQuotaGranted),
		v1alpha.GateNetwork:        networks == nil || networks.Ready,
		v1alpha.GateReferencedData: meta.IsStatusConditionTrue(s.found, v1alpha.ConditionReferencedDataReady),
	} {
		if lifted {
			var held bool
			gates, held = withoutGate(gates, gate)
			changed = changed || held
		}
	}
	if !changed {
		return nil
	}
	s.instance.Spec.Controller.SchedulingGates = gates
	// The patch replaces the whole list: the lock keeps it from setting a gate again that was lifted meanwhile.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, s.instance, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("lift scheduling gates of Instance %s: %w", client.ObjectKeyFromObject(s.instance), err)
	}
	return nil
}

func (s *scope) writeStatus(ctx context.Context) error {
	existing := s.instance.Status.Conditions
	wanted := conditions.Stamped(existing, conditions.Stamp{Generation: s.instance.Generation, Now: s.Clock.Now()}, s.found...)
	if conditions.Include(existing, wanted) {
		return nil
	}
	return apply.Status(ctx, s.Client, FieldManager, &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.instance.Namespace, Name: s.instance.Name, ResourceVersion: s.instance.ResourceVersion},
		Status:     v1alpha.InstanceStatus{Conditions: wanted},
	})
}
