// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cities says which cells a city has, by the city label of Karmada's Clusters.
package cities

import (
	"context"
	"fmt"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/predicates"
)

// Cell is a Cluster of Karmada.
type Cell struct {
	// Name of the Cluster.
	Name string
	// City is the value of its city label in lower case, or "" when it belongs to no city.
	City string
	// Ready says whether Karmada reaches it. A Cluster without the condition is not Ready.
	Ready bool
	// Since is when Ready last changed; before the first report, when the Cluster was created.
	Since time.Time

	deleting bool
}

// Cells are all Clusters of the hub.
type Cells []Cell

// List reads the Clusters of the hub.
func List(ctx context.Context, hub client.Reader) (Cells, error) {
	var clusters clusterv1alpha1.ClusterList
	if err := hub.List(ctx, &clusters); err != nil {
		return nil, fmt.Errorf("list the hub's Clusters: %w", err)
	}
	cells := make(Cells, 0, len(clusters.Items))
	for i := range clusters.Items {
		cells = append(cells, newCell(&clusters.Items[i]))
	}
	return cells, nil
}

func newCell(cluster *clusterv1alpha1.Cluster) Cell {
	cell := Cell{
		Name: cluster.Name, City: v1alpha.CityLabel(cluster.Labels[v1alpha.LabelTopologyCity]),
		Since: cluster.CreationTimestamp.Time, deleting: !cluster.DeletionTimestamp.IsZero(),
	}
	if condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady); condition != nil {
		cell.Ready = condition.Status == metav1.ConditionTrue
		cell.Since = condition.LastTransitionTime.Time
	}
	return cell
}

// Of are the cells of a city, whose code may be in either case. A Cluster that is being deleted belongs to no city any more.
func (c Cells) Of(cityCode string) Cells {
	return slices.DeleteFunc(slices.Clone(c), func(cell Cell) bool {
		return cell.deleting || cell.City == "" || cell.City != v1alpha.CityLabel(cityCode)
	})
}

// Ready says whether a cell of this name exists and is Ready.
func (c Cells) Ready(name string) bool {
	return slices.ContainsFunc(c, func(cell Cell) bool { return cell.Name == name && cell.Ready })
}

// AnyReady says whether one of the cells is Ready.
func (c Cells) AnyReady() bool {
	return slices.ContainsFunc(c, func(cell Cell) bool { return cell.Ready })
}

// Changed drops updates of Clusters that change nothing of what a Cell says.
func Changed() predicate.Predicate {
	return predicate.Or(predicate.LabelChangedPredicate{}, predicates.DeletionStarted(), predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isCluster := e.ObjectOld.(*clusterv1alpha1.Cluster)
			after, stillIs := e.ObjectNew.(*clusterv1alpha1.Cluster)
			return isCluster && stillIs && newCell(before).Ready != newCell(after).Ready
		},
	})
}
