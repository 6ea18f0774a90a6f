// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lookAtMissing triggers a Karmada reconcile of deployments that the cell lacks.
func (i *Inventory) lookAtMissing(ctx context.Context, c *cell, state *cellState) error {
	if !i.owns(c.name) {
		return nil
	}
	now := i.Clock.Now()
	var failed []error
	for key, s := range state.missing {
		if now.Sub(s.since) < i.After || now.Before(s.next) || i.left == 0 {
			continue
		}
		i.left--
		s.next = now.Add(i.After)
		failed = append(failed, i.resend(ctx, c.name, key))
	}
	return errors.Join(failed...)
}

// resend triggers Karmada to apply the Work of a deployment or a hub namespace again. It ignores objects without a
// Work: the inventory does not repair them.
func (i *Inventory) resend(ctx context.Context, cell string, object types.NamespacedName) error {
	work := &workv1alpha1.Work{}
	key := client.ObjectKey{Namespace: karmadanames.GenerateExecutionSpaceName(cell), Name: workName(object)}
	if err := i.APIReader.Get(ctx, key, work); err != nil {
		return client.IgnoreNotFound(err)
	}
	suspended := work.Spec.SuspendDispatching
	if !work.DeletionTimestamp.IsZero() || suspended != nil && *suspended {
		return nil
	}
	patch, err := repairPatch(work, toggled(work), i.Clock.Now())
	if err != nil {
		return err
	}
	fault := Repair{Reason: "MissingInCell", Object: work, Cell: cell, Message: fmt.Sprintf("cell %s does not have %s", cell, describe(object))}
	_, err = i.Repairer.Do(ctx, fault, func(ctx context.Context) error {
		return i.Hub.Patch(ctx, work, patch, client.FieldOwner(InventoryFieldManager))
	})
	return err
}
