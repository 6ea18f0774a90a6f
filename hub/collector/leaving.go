// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// leave notes which deployments leave which cells, those first that have left longest.
func (v *view) leave(copies []v1alpha.WorkloadDeployment) {
	for n := range copies {
		assignment := copies[n].Spec.Assignment
		if assignment == nil || copies[n].Labels[v1alpha.LabelHub] != string(v.hub) {
			continue
		}
		for i := range assignment.Cells {
			if c := v.cells[assignment.Cells[i].Name]; c != nil && assignment.Cells[i].IsLeaving() {
				c.leaving = append(c.leaving, copies[n].Leaving(&assignment.Cells[i]))
			}
		}
	}
	for _, c := range v.cells {
		slices.SortFunc(c.leaving, func(a, b v1alpha.LeavingDeployment) int {
			return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
}

// askLeaving returns the deployments to ask the cell about: deployments whose Work is gone. Until then Karmada could
// still apply one in the cell after its answer.
func (i *Inventory) askLeaving(ctx context.Context, c *cell, state *cellState) ([]v1alpha.LeavingDeployment, error) {
	asked := map[v1alpha.LeavingDeployment]bool{}
	var list []v1alpha.LeavingDeployment
	var failed []error
	for _, leaving := range c.leaving {
		if len(list) == cells.MaxLeaving {
			break
		}
		if !state.asked[leaving] {
			gone, err := i.workGone(ctx, c.name, types.NamespacedName{Namespace: leaving.Namespace, Name: leaving.Name})
			if err != nil || !gone {
				failed = append(failed, err)
				continue
			}
		}
		asked[leaving] = true
		list = append(list, leaving)
	}
	state.asked = asked
	return list, errors.Join(failed...)
}

// workGone reports whether Karmada has no Work of a deployment for a cell. The cache may be behind: the API server
// decides.
func (i *Inventory) workGone(ctx context.Context, cell string, deployment types.NamespacedName) (bool, error) {
	key := client.ObjectKey{Namespace: karmadanames.GenerateExecutionSpaceName(cell), Name: workName(deployment)}
	for _, reader := range []client.Reader{i.Hub, i.APIReader} {
		err := reader.Get(ctx, key, &workv1alpha1.Work{})
		if err == nil {
			return false, nil
		}
		if !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("get Work %s: %w", key, err)
		}
	}
	return true, nil
}
