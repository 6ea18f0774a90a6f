// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// passCell compares one cell. Only the cell's own replica writes the Work that carries the Cell and triggers Karmada to
// write missing objects. Unexpected objects are handled by the replica that owns their project.
func (i *Inventory) passCell(ctx context.Context, v *view, c *cell) error {
	state := i.cells[c.name]
	if state == nil {
		state = newCellState()
		i.cells[c.name] = state
	}
	report := c.report()
	if report == nil || !c.ready {
		// The last report of a disconnected cell proves nothing.
		*state = *newCellState()
		i.measure(c.name, state)
		return i.ensureWork(ctx, c, v1alpha.CellSpec{HubUID: v.hub, Cell: c.name, Namespaces: true})
	}
	c.expectNamespaces(report)
	var leaving []v1alpha.LeavingDeployment
	var unknown error
	if i.owns(c.name) {
		leaving, unknown = i.askLeaving(ctx, c, state)
	}
	now := i.Clock.Now()
	state.compare(report, c.expected, now)
	state.suspects(report, c.expected, now)
	i.measure(c.name, state)
	err := i.ensureWork(ctx, c, v1alpha.CellSpec{HubUID: v.hub, Cell: c.name, Namespaces: true, List: state.ask(now, i.After), Leaving: leaving})
	return errors.Join(err, unknown, i.lookAtUnexpected(ctx, c, state), i.lookAtMissing(ctx, c, state))
}

// measure sets the metric of a cell, on the replica that owns the cell.
func (i *Inventory) measure(cell string, state *cellState) {
	if !i.owns(cell) {
		i.mismatch.DeletePartialMatch(map[string]string{"cell": cell})
		return
	}
	i.mismatch.WithLabelValues(cell, "unexpected").Set(float64(len(state.unexpected)))
	i.mismatch.WithLabelValues(cell, "missing").Set(float64(len(state.missing)))
}

// owns reports whether this replica owns the shard of a cell.
func (i *Inventory) owns(cell string) bool { return i.Existence.Owns(naming.CellKey(cell)) }

// ensureWork writes the Work that carries the Cell. If the Work is being deleted, the next pass recreates it.
func (i *Inventory) ensureWork(ctx context.Context, c *cell, spec v1alpha.CellSpec) error {
	if !i.owns(c.name) {
		return nil
	}
	desired, err := cellWork(c.name, spec)
	if err != nil {
		return err
	}
	if c.work != nil && (!c.work.DeletionTimestamp.IsZero() || carries(c.work, &spec) && !apply.MetadataDiffers(c.work, desired)) {
		return nil
	}
	_, err = apply.Object(ctx, i.Hub, InventoryFieldManager, desired)
	return err
}

// cleanUp deletes the Works of Cells whose cluster is no longer a cell of this hub, and the Works of removals whose
// replica stopped before it had deleted them.
func (i *Inventory) cleanUp(ctx context.Context, v *view) error {
	var failed []error
	for n := range v.works {
		work := v.works[n]
		name := cellOf(work)
		if !work.DeletionTimestamp.IsZero() || !i.owns(name) {
			continue
		}
		c := v.cells[name]
		stale := work.Labels[v1alpha.LabelInventory] == v1alpha.InventoryCell && (c == nil || c.work != work)
		if isRemoval(work) {
			stale = i.Clock.Since(work.CreationTimestamp.Time) >= i.After
		}
		if stale {
			failed = append(failed, i.deleteWork(ctx, client.ObjectKeyFromObject(work), work.UID))
		}
	}
	return errors.Join(failed...)
}

// deleteWork deletes a Work of the inventory, unless Karmada has taken it over.
func (i *Inventory) deleteWork(ctx context.Context, key client.ObjectKey, uid types.UID) error {
	// Karmada writes the status of a new Work at once.
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		work := &workv1alpha1.Work{}
		if err := i.APIReader.Get(ctx, key, work); err != nil {
			return err
		}
		own := work.Labels[v1alpha.LabelInventory] == v1alpha.InventoryCell || isRemoval(work)
		if work.UID != uid || !work.DeletionTimestamp.IsZero() || !own {
			return nil
		}
		return i.Hub.Delete(ctx, work, client.Preconditions{UID: &work.UID, ResourceVersion: &work.ResourceVersion})
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Work %s: %w", key, err)
	}
	return nil
}
