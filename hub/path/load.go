// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"fmt"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	return s.Copied == nil || !s.Copied.DeletionTimestamp.IsZero() || !IsCopy(s.Copied, s.Original)
}

// workName is the field by which WorkIndex indexes.
const workName = "name of the Work"

// WorkIndex indexes the Works of the hub's cache by their name: the Works of a deployment have one name, in the
// execution namespaces of its cells. A read in each execution namespace would cost each reconcile of each deployment as
// much as the hub has cells.
type WorkIndex struct{}

// AddTo adds the index to a cache. It is an error to add it twice.
func (WorkIndex) AddTo(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &workv1alpha1.Work{}, workName, func(work client.Object) []string { return []string{work.GetName()} })
	if err != nil {
		return fmt.Errorf("index Works by name: %w", err)
	}
	return nil
}

// Load reads the path of a deployment from the hub. Karmada derives the name of a Work from the name of the copy. The
// hub's cache needs WorkIndex.
func Load(ctx context.Context, hub client.Reader, s Subject) (*Row, error) {
	row := &Row{Subject: s, Works: map[string]*workv1alpha1.Work{}}
	var err error
	if row.Binding, err = GetBinding(ctx, hub, s.Name); err != nil {
		return nil, err
	}
	if row.Cells, err = cells.List(ctx, hub); err != nil {
		return nil, err
	}
	var works workv1alpha1.WorkList
	name := karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, s.Name.Name, s.Name.Namespace)
	if err := hub.List(ctx, &works, client.MatchingFields{workName: name}); err != nil {
		return nil, fmt.Errorf("list the Works %s: %w", name, err)
	}
	for i := range works.Items {
		work := &works.Items[i]
		cell, err := karmadanames.GetClusterName(work.Namespace)
		if _, exists := row.Cells.Find(cell); err != nil || !exists {
			continue
		}
		// A Work with which the collector deletes a deployment in a cell has the same name as Karmada's Work, and so may one that
		// the agent of a cell has written. Karmada notes its binding.
		if work.Labels[v1alpha.LabelInventory] == "" && isOfBinding(work, s.Name) {
			row.Works[cell] = work
		}
	}
	if s.awaitsCopy() {
		row.Obstacle, err = obstacle(ctx, hub, s.Name, row.Cells.Of(s.Original.Spec.CityCode))
	}
	return row, err
}

// isOfBinding reports whether Karmada has made a Work for a copy.
func isOfBinding(work *workv1alpha1.Work, copied types.NamespacedName) bool {
	return work.Annotations[workv1alpha2.ResourceBindingNamespaceAnnotationKey] == copied.Namespace &&
		work.Annotations[workv1alpha2.ResourceBindingNameAnnotationKey] ==
			karmadanames.GenerateBindingName(v1alpha.KindWorkloadDeployment, copied.Name)
}

// obstacle returns why the hub has no copy of a deployment of a city, whose copy has this name: hub/propagation waits
// for the deletion of an earlier deployment's leftovers.
func obstacle(ctx context.Context, hub client.Reader, copied types.NamespacedName, city cells.Cells) (*Finding, error) {
	namespace := &corev1.Namespace{}
	if deleted, err := deletionOf(ctx, hub, types.NamespacedName{Name: copied.Namespace}, namespace); err != nil {
		return nil, err
	} else if deleted != nil {
		return &Finding{
			Fault: CopyMissing, Since: deleted.Time,
			Message: fmt.Sprintf("namespace %s of an earlier deployment is still being deleted on the hub", copied.Namespace),
		}, nil
	}
	for i := range city {
		found, err := obstacleIn(ctx, hub, copied, &city[i])
		if found != nil || err != nil {
			return found, err
		}
	}
	earlier := &v1alpha.WorkloadDeployment{}
	deleted, err := deletionOf(ctx, hub, copied, earlier)
	switch {
	case err != nil:
		return nil, err
	case deleted != nil:
		return &Finding{
			Fault: CopyMissing, Since: deleted.Time,
			Message: fmt.Sprintf("the copy %s of an earlier deployment is still being deleted on the hub", copied),
		}, nil
	}
	return &Finding{Fault: CopyMissing, Message: "the hub has no copy of the deployment; see the logs of karmada-compute"}, nil
}

// obstacleIn returns whether a cell still has to delete the namespace of the copy.
func obstacleIn(ctx context.Context, hub client.Reader, copied types.NamespacedName, cell *cells.Cell) (*Finding, error) {
	name := types.NamespacedName{
		Namespace: karmadanames.GenerateExecutionSpaceName(cell.Name), Name: karmadanames.GenerateWorkName("Namespace", copied.Namespace, ""),
	}
	deleted, err := deletionOf(ctx, hub, name, &workv1alpha1.Work{})
	switch {
	case err != nil || deleted == nil:
		return nil, err
	case !cell.Ready:
		return &Finding{
			Fault: CellNotReady, Cell: cell.Name, Since: cell.Since, Certain: true,
			Message: fmt.Sprintf("Karmada does not reach the cell, which must delete namespace %s of an earlier deployment first", copied.Namespace),
		}, nil
	}
	return &Finding{
		Fault: CopyMissing, Cell: cell.Name, Since: deleted.Time,
		Message: fmt.Sprintf("the cell is still deleting namespace %s of an earlier deployment", copied.Namespace),
	}, nil
}

// deletionOf returns when the deletion of an object began; nil if it does not exist or is not being deleted.
func deletionOf(ctx context.Context, hub client.Reader, name types.NamespacedName, object client.Object) (*metav1.Time, error) {
	if err := hub.Get(ctx, name, object); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("get %T %s: %w", object, name, err)
	}
	return object.GetDeletionTimestamp(), nil
}
