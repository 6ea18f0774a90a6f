// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// lookAtMissing has Karmada write again what the cell should have.
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

// resend makes Karmada apply the Work of a deployment or a hub namespace again. One without a Work is not the inventory's matter.
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
	patch, err := touch(work, i.Clock.Now())
	if err != nil {
		return err
	}
	fault := Repair{Reason: "MissingInCell", Object: work, Cell: cell, Message: fmt.Sprintf("cell %s does not have %s", cell, describe(object))}
	_, err = i.Mender.Do(ctx, fault, func(ctx context.Context) error {
		return i.Hub.Patch(ctx, work, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(InventoryFieldManager))
	})
	return err
}

// touch changes the generation of a Work and nothing else: Karmada's execution controller ignores updates that do not.
// Dispatching that is not suspended is the same whether the field is false or not set.
func touch(work *workv1alpha1.Work, now time.Time) ([]byte, error) {
	var suspend any
	if work.Spec.SuspendDispatching == nil {
		suspend = false
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"uid": work.UID, "annotations": map[string]string{v1alpha.AnnotationMended: now.UTC().Format(time.RFC3339)},
		},
		"spec": map[string]any{"suspendDispatching": suspend},
	})
	if err != nil {
		return nil, fmt.Errorf("encode the patch of Work %s: %w", client.ObjectKeyFromObject(work), err)
	}
	return patch, nil
}
