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

// Subject is the deployment whose path is loaded.
type Subject struct {
	// Name is the name of the copy on the hub.
	Name types.NamespacedName
	// Original is the deployment in the project; nil: none exists.
	Original *v1alpha.WorkloadDeployment
	// Copied is the copy; nil: none exists.
	Copied *v1alpha.WorkloadDeployment
	// Karmada is the state of karmada-controller-manager.
	Karmada Karmada
}

// awaitsCopy reports whether an original needs a copy that the hub does not have.
func (s *Subject) awaitsCopy() bool {
	if s.Original == nil || !s.Original.DeletionTimestamp.IsZero() {
		return false
	}
	return s.Copied == nil || !s.Copied.DeletionTimestamp.IsZero() || s.Copied.Labels[v1alpha.LabelDeploymentUID] != string(s.Original.UID)
}

// Load reads the path of a deployment from the hub. Karmada derives the name of a Work from the name of the copy, so
// Load gets each Work by its name, without a search.
func Load(ctx context.Context, hub client.Reader, s Subject) (*Row, error) {
	row := &Row{Subject: s, Works: map[string]*workv1alpha1.Work{}}
	var err error
	if row.Binding, err = GetBinding(ctx, hub, s.Name); err != nil {
		return nil, err
	}
	if row.Cells, err = cells.List(ctx, hub); err != nil {
		return nil, err
	}
	workName := karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, s.Name.Name, s.Name.Namespace)
	for i := range row.Cells {
		work := &workv1alpha1.Work{}
		key := types.NamespacedName{Namespace: karmadanames.GenerateExecutionSpaceName(row.Cells[i].Name), Name: workName}
		err := hub.Get(ctx, key, work)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get Work %s: %w", key, err)
		}
		// A Work with which the collector deletes a deployment in a cell has the same name as Karmada's Work.
		if work.Labels[v1alpha.LabelInventory] == "" {
			row.Works[row.Cells[i].Name] = work
		}
	}
	if s.awaitsCopy() {
		row.Obstacle, err = obstacle(ctx, hub, s.Name, row.Cells.Of(s.Original.Spec.CityCode))
	}
	return row, err
}
