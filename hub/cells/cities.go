// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

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
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/predicates"
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
	// Gone says that nothing is kept for the cell any more: its Cluster is being deleted, or an operator has forgotten it.
	Gone bool
	// Agent is how the agent of the add-on is there.
	Agent Agent
}

// Agent is what Karmada reports of the agent of a cell. The zero value is an agent that works, or of which nothing is known.
type Agent struct {
	// Down says that no replica of the agent is available. An agent of another version is not down.
	Down bool
	// Since is when that was noticed.
	Since time.Time
	// Message says why.
	Message string
}

// Cells are all Clusters of the hub.
type Cells []Cell

// List reads the Clusters of the hub. It runs for every reconcile of every deployment, and a Cluster lists all APIs of its cell.
func List(ctx context.Context, hub client.Reader) (Cells, error) {
	var clusters clusterv1alpha1.ClusterList
	if err := hub.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the hub's Clusters: %w", err)
	}
	cells := make(Cells, 0, len(clusters.Items))
	for i := range clusters.Items {
		cells = append(cells, NewCell(&clusters.Items[i]))
	}
	return cells, nil
}

// NewCell returns the cell of a Cluster.
func NewCell(cluster *clusterv1alpha1.Cluster) Cell {
	cell := Cell{
		Name: cluster.Name, City: naming.CityLabel(cluster.Labels[v1alpha.LabelTopologyCity]),
		Since: cluster.CreationTimestamp.Time, Gone: !cluster.DeletionTimestamp.IsZero() || IsForgotten(cluster),
	}
	if condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady); condition != nil {
		cell.Ready = condition.Status == metav1.ConditionTrue
		cell.Since = condition.LastTransitionTime.Time
	}
	if condition := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha.ConditionComputeAgentReady); condition != nil {
		if condition.Reason == v1alpha.ReasonAgentMissing || condition.Reason == v1alpha.ReasonAgentNotReady {
			cell.Agent = Agent{Down: true, Since: condition.LastTransitionTime.Time, Message: condition.Message}
		}
	}
	return cell
}

// IsForgotten says whether an operator has said that a cell is gone for good.
func IsForgotten(cluster *clusterv1alpha1.Cluster) bool {
	return cluster.Annotations[v1alpha.AnnotationForget] == "true"
}

// Find returns the cell of a name.
func (c Cells) Find(name string) (Cell, bool) {
	index := slices.IndexFunc(c, func(cell Cell) bool { return cell.Name == name })
	if index < 0 {
		return Cell{}, false
	}
	return c[index], true
}

// Of are the cells of a city, whose code may be in either case. A cell that is gone belongs to no city any more.
func (c Cells) Of(cityCode string) Cells {
	return slices.DeleteFunc(c.labelled(cityCode), func(cell Cell) bool { return cell.Gone })
}

// GoneOf are the cells that have the label of a city and are gone.
func (c Cells) GoneOf(cityCode string) Cells {
	return slices.DeleteFunc(c.labelled(cityCode), func(cell Cell) bool { return !cell.Gone })
}

func (c Cells) labelled(cityCode string) Cells {
	return slices.DeleteFunc(slices.Clone(c), func(cell Cell) bool {
		return cell.City == "" || cell.City != naming.CityLabel(cityCode)
	})
}

// Exists says whether there is a cell of this name that is not gone, in whatever city.
func (c Cells) Exists(name string) bool {
	return slices.ContainsFunc(c, func(cell Cell) bool { return cell.Name == name && !cell.Gone })
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
			return isCluster && stillIs && differs(NewCell(before), NewCell(after))
		},
	})
}

// differs says whether a Cell is Ready or gone, and was not before, or the other way round.
func differs(before, after Cell) bool {
	return before.Ready != after.Ready || before.Gone != after.Gone
}

// HealthChanged is Changed, and passes changes of the agent too.
func HealthChanged() predicate.Predicate {
	return predicate.Or(Changed(), predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isCluster := e.ObjectOld.(*clusterv1alpha1.Cluster)
			after, stillIs := e.ObjectNew.(*clusterv1alpha1.Cluster)
			return isCluster && stillIs && NewCell(before).Agent.Down != NewCell(after).Agent.Down
		},
	})
}
