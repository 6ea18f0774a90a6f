// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"fmt"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"

	"github.com/karmada-compute/karmada-compute/hub/cells"
)

// Load reads the way of a copy from the hub. copied is nil when there is no copy of that name. A Work has a name that Karmada
// derives from the copy's, so that each is read by name, and nothing is searched.
func Load(ctx context.Context, hub client.Reader, name types.NamespacedName, copied *v1alpha.WorkloadDeployment) (*Row, error) {
	w := &Row{Copied: copied, Works: map[string]*workv1alpha1.Work{}}
	var err error
	if w.Binding, err = GetBinding(ctx, hub, name); err != nil {
		return nil, err
	}
	if w.Cells, err = cells.List(ctx, hub); err != nil {
		return nil, err
	}
	workName := karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, name.Name, name.Namespace)
	for i := range w.Cells {
		work := &workv1alpha1.Work{}
		key := types.NamespacedName{Namespace: karmadanames.GenerateExecutionSpaceName(w.Cells[i].Name), Name: workName}
		err := hub.Get(ctx, key, work)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get Work %s: %w", key, err)
		}
		// A Work of hub/inventory, by which a cell gets rid of what nobody asked for, has the name of Karmada's.
		if work.Labels[v1alpha.LabelInventory] == "" {
			w.Works[w.Cells[i].Name] = work
		}
	}
	return w, nil
}

// With is the way with what is known of karmada-controller-manager.
func (w *Row) With(state Karmada) *Row {
	w.Karmada = state
	return w
}
