// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
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
		return i.ensureWork(ctx, c, v1alpha.CellSpec{HubUID: v.hub, Cell: c.name, Namespaces: true, LoadBalancer: c.balancer})
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
	state.waits(c.unapplied, now)
	i.measure(c.name, state)
	err := i.ensureWork(ctx, c, v1alpha.CellSpec{
		HubUID: v.hub, Cell: c.name, Namespaces: true, List: state.ask(now, i.After), Leaving: leaving, LoadBalancer: c.balancer,
	})
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

// maxAsked limits the buckets that a cell is asked about at once, so that its answer stays small.
const maxAsked = 4

// cellState is the state of a cell across passes.
type cellState struct {
	// differs is the time since which each bucket has differed.
	differs map[int32]time.Time
	// unexpected are the deployments that should not be in the cell, and missing the deployments that should.
	unexpected map[v1alpha.InventoryEntry]*suspect
	missing    map[types.NamespacedName]*suspect
	// unapplied are the hub namespaces that Karmada has not written into the cell.
	unapplied map[types.NamespacedName]*suspect
	// asked are the leaving deployments that the cell was asked about, with the beginning of the last turn of each.
	asked map[v1alpha.LeavingDeployment]time.Time
}

// suspect is a deployment about which a cell and the hub disagree.
type suspect struct {
	// since is when the disagreement began.
	since time.Time
	// next is when to check the deployment again.
	next time.Time
	// unwantedSince is when the project first reported that it does not have the deployment; zero: it has not.
	unwantedSince time.Time
}

func newCellState() *cellState {
	return &cellState{
		differs: map[int32]time.Time{}, unexpected: map[v1alpha.InventoryEntry]*suspect{}, missing: map[types.NamespacedName]*suspect{},
	}
}

// compare updates differs from a report.
func (s *cellState) compare(report *v1alpha.CellStatus, expected map[types.NamespacedName]types.UID, now time.Time) {
	wanted := wire.Inventory{}
	for key, uid := range expected {
		wanted.Add(key, uid)
	}
	for number, digest := range wanted.Digests() {
		bucket := int32(number)
		switch _, known := s.differs[bucket]; {
		case report.Digests[number] == digest:
			delete(s.differs, bucket)
		case !known:
			s.differs[bucket] = now
		}
	}
}

// ask returns the buckets that have differed for at least after; if there are too many, the ones that have differed
// longest.
func (s *cellState) ask(now time.Time, after time.Duration) []int32 {
	var buckets []int32
	for bucket, since := range s.differs {
		if now.Sub(since) >= after {
			buckets = append(buckets, bucket)
		}
	}
	slices.SortFunc(buckets, func(a, b int32) int { return cmp.Or(s.differs[a].Compare(s.differs[b]), cmp.Compare(a, b)) })
	buckets = buckets[:min(len(buckets), maxAsked)]
	slices.Sort(buckets)
	return buckets
}

// suspects updates the suspects from a report's entries. A deployment that the cell has from an earlier copy is
// missing, not unexpected: Karmada overwrites it with the new one.
func (s *cellState) suspects(report *v1alpha.CellStatus, expected map[types.NamespacedName]types.UID, now time.Time) {
	unexpected, missing := map[v1alpha.InventoryEntry]*suspect{}, map[types.NamespacedName]*suspect{}
	present := map[types.NamespacedName]types.UID{}
	for _, entry := range report.Entries {
		present[entry.Key()] = entry.TemplateUID
		if _, isExpected := expected[entry.Key()]; !isExpected {
			unexpected[entry] = known(s.unexpected[entry], now)
		}
	}
	for key, uid := range expected {
		found, exists := present[key]
		listed := exists || !report.Truncated && slices.Contains(report.Listed, wire.Bucket(key))
		if listed && (!exists || found != uid) {
			missing[key] = known(s.missing[key], now)
		}
	}
	s.unexpected, s.missing = unexpected, missing
}

// waits updates unapplied.
func (s *cellState) waits(unapplied []types.NamespacedName, now time.Time) {
	next := map[types.NamespacedName]*suspect{}
	for _, key := range unapplied {
		next[key] = known(s.unapplied[key], now)
	}
	s.unapplied = next
}

func known(before *suspect, now time.Time) *suspect {
	if before != nil {
		return before
	}
	return &suspect{since: now}
}
