// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"
	"slices"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// leavingRequeue is the delay before a deployment that a cell has not released checks the cell's answer again.
const leavingRequeue = 5 * time.Second

// departures decide when a cell that has lost all indices of a deployment has released them. Karmada drops the report
// of a cell with the Work that it deletes, and deletes in the background: neither a missing report nor a missing Work
// proves that a Pod has ended.
type departures struct {
	copied *v1alpha.WorkloadDeployment
	// cells are the cells of every city.
	cells cells.Cells
	// failoverAfter is how long a cell may be lost before other cells run its Instances; 0: they never do.
	failoverAfter time.Duration
	now           time.Time
	// sent reports whether Karmada has a Work of the deployment for a cell, or is about to.
	sent func(cell string) bool
	// left are the cells' answers about deployments that have left them.
	left map[string][]v1alpha.LeavingDeployment
}

// departures returns the departures of the copy from its cells.
func (s *scope) departures(
	ctx context.Context, binding *workv1alpha2.ResourceBinding, existing *v1alpha.WorkloadDeployment,
) (*departures, error) {
	d := &departures{
		copied: existing, cells: s.allCells, failoverAfter: s.FailoverAfter, now: s.Clock.Now(), left: map[string][]v1alpha.LeavingDeployment{},
	}
	works := map[string]bool{}
	d.sent = func(cell string) bool {
		return works[cell] || binding != nil && slices.ContainsFunc(binding.Spec.Clusters,
			func(c workv1alpha2.TargetCluster) bool { return c.Name == cell })
	}
	if existing.Spec.Assignment == nil {
		return d, nil
	}
	hub, err := s.identity.UID(ctx)
	if err != nil {
		return nil, err
	}
	for i := range existing.Spec.Assignment.Cells {
		cell := &existing.Spec.Assignment.Cells[i]
		if !cell.IsLeaving() {
			continue
		}
		if works[cell.Name], err = s.hasWork(ctx, cell.Name); err != nil {
			return nil, err
		}
		if d.left[cell.Name], err = cells.LeftIn(ctx, s.Hub, hub, cell.Name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// hasWork reports whether Karmada has a Work of the deployment for a cell.
func (s *scope) hasWork(ctx context.Context, cell string) (bool, error) {
	key := types.NamespacedName{
		Namespace: karmadanames.GenerateExecutionSpaceName(cell),
		Name:      karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, s.deployment.Name, s.hubNamespace),
	}
	err := s.Hub.Get(ctx, key, &workv1alpha1.Work{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("get the Work of the deployment for cell %s: %w", cell, err)
	}
	return err == nil, nil
}

// released reports whether a cell without a share has released all indices: it has reported that, or its report is no
// longer waited for. A cell that is lost, or that has no city and so no agent, cannot report: the failover time
// replaces its report.
func (d *departures) released(assigned *v1alpha.CellAssignment) bool {
	cell, exists := d.cells.Find(assigned.Name)
	switch {
	case !exists || cell.Gone:
		return true
	case !cell.Ready:
		remaining, unreached := d.cells.UntilLost(&cell, d.now, d.failoverAfter)
		return unreached && remaining == 0 && d.failoverAfter > 0
	case !assigned.IsLeaving() || d.sent(assigned.Name):
		return false
	case cell.City == "":
		// While the cell was not reached, Karmada could not remove the deployment.
		since := slices.MaxFunc([]time.Time{assigned.LeavingSince.Time, cell.Since}, time.Time.Compare)
		return d.failoverAfter > 0 && d.now.Sub(since) >= d.failoverAfter
	}
	return slices.Contains(d.left[assigned.Name], d.copied.Leaving(assigned))
}
