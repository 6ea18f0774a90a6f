// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/cell/conditions"
	"github.com/karmada-compute/karmada-compute/cell/data"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// Reconcile looks at one Instance.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	instance := &v1alpha.Instance{}
	if err := r.Client.Get(ctx, request.NamespacedName, instance); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !instance.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	deployment, err := owned.Deployment(ctx, r.Client, instance)
	if err != nil || deployment == nil {
		return reconcile.Result{}, err
	}
	granted := quotaGranted(deployment.Spec.Quota, instance.Name)
	wanted := []metav1.Condition{granted}
	if granted.Status == metav1.ConditionTrue {
		if err := r.lift(ctx, instance, v1alpha.GateQuota); err != nil {
			return reconcile.Result{}, ignoreOutOfDate(err)
		}
	}
	if needed, named := data.Needed(&instance.Spec); named {
		missing, err := data.Missing(ctx, r.Client, instance.Namespace, needed)
		if err != nil {
			return reconcile.Result{}, err
		}
		if len(missing) == 0 {
			if err := r.lift(ctx, instance, v1alpha.GateReferencedData); err != nil {
				return reconcile.Result{}, ignoreOutOfDate(err)
			}
		}
		wanted = append(wanted, dataReady(missing))
	}
	return reconcile.Result{}, ignoreOutOfDate(r.report(ctx, instance, wanted))
}

// lift removes a gate. A grant that is taken back, or data that goes, does not put it on again: what runs, runs.
func (r *Reconciler) lift(ctx context.Context, instance *v1alpha.Instance, gate string) error {
	rest, held := withoutGate(owned.Gates(instance), gate)
	if !held {
		return nil
	}
	before := instance.DeepCopy()
	instance.Spec.Controller.SchedulingGates = rest
	// The patch replaces the whole list: the lock keeps it from bringing back a gate that was lifted meanwhile.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, instance, patch, client.FieldOwner(Owner)); err != nil {
		return fmt.Errorf("lift gate %s of Instance %s: %w", gate, client.ObjectKeyFromObject(instance), err)
	}
	return nil
}

func (r *Reconciler) report(ctx context.Context, instance *v1alpha.Instance, found []metav1.Condition) error {
	wanted := conditions.Put(instance.Status.Conditions,
		conditions.Stamp{Generation: instance.Generation, Now: r.Clock.Now()}, found...)
	if conditions.Contain(instance.Status.Conditions, wanted) {
		return nil
	}
	return apply.Status(ctx, r.Client, Owner, &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: instance.Namespace, Name: instance.Name, UID: instance.UID},
		Status:     v1alpha.InstanceStatus{Conditions: wanted},
	})
}

// ignoreOutOfDate drops errors that say the cache was behind: what it lacks comes as an event and brings the Instance
// back here.
func ignoreOutOfDate(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
