// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// maxOnDemand is the largest value of AnnotationNodesOnDemand.
const maxOnDemand = 9999

// Cell is a Cluster of Karmada.
type Cell struct {
	// Name of the Cluster.
	Name string
	// City is the value of its city label in lower case, or "" if it belongs to no city.
	City string
	// Ready reports whether Karmada reaches the cell. A Cluster without the condition is not Ready.
	Ready bool
	// Since is when Ready last changed; before the first report, when the Cluster was created.
	Since time.Time
	// Gone: the add-on keeps no object for the cell any more: its Cluster is being deleted, or an operator has
	// forgotten it.
	Gone bool
	// Cordoned: all nodes of the cell are cordoned.
	Cordoned bool
	// Tainted: Karmada schedules nothing new to the cell, because of a taint that someone has set.
	Tainted bool
	// Agent is the status of the cell agent.
	Agent Agent
	// Balancer is the operator's text about the load balancer of the cell; "": it has none. ReadLoadBalancer reads it.
	Balancer string
	// OnDemand is the most Instances that may wait for a node of the cell, whose nodes come on demand; 0: they do not.
	OnDemand int32
	// Held: an operator holds failovers of the city.
	Held bool
	// summary has the free resources of the cell, as Karmada reports them; nil: they are not known. It is shared with the cache.
	summary *clusterv1alpha1.ResourceSummary
}

// Agent is Karmada's report of the agent of a cell. Since when it is down is not known: the condition has the time when it became
// False, for whatever reason. The zero value is an agent that runs, or whose state is unknown.
type Agent struct {
	// Down: no replica of the agent is available. An agent of another version is not down.
	Down bool
	// Message is the reason.
	Message string
}

// Cells are all Clusters of the hub.
type Cells []Cell

// List reads the Clusters of the hub. It runs in every reconcile of every deployment, and a Cluster lists all APIs of
// its cell, so it does not copy them.
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

// reachAgain is how long Karmada may need to reach all cells after it has reached the first one again: in push mode their
// Clusters become Ready one after the other, up to 10 seconds apart.
const reachAgain = 15 * time.Second

// UntilLost returns how long a cell does not count as lost yet, if it does once it was not reached for a time; 0: it is lost.
// The time counts from when the cell could have answered: from when another cell of the hub was reached. unreached is
// false if the cell is reached, or no cell is: the fault may be the hub's own.
func (c Cells) UntilLost(cell *Cell, now time.Time, after time.Duration) (remaining time.Duration, unreached bool) {
	if cell.Ready || !c.AnyReady() {
		return 0, false
	}
	reached := slices.DeleteFunc(slices.Clone(c), func(other Cell) bool { return !other.Ready })
	contact := slices.MinFunc(reached, func(a, b Cell) int { return a.Since.Compare(b.Since) }).Since
	since := cell.Since
	if contact.After(since) {
		since = contact.Add(reachAgain)
	}
	return max(0, since.Add(after).Sub(now)), true
}

// NewCell returns the cell of a Cluster.
func NewCell(cluster *clusterv1alpha1.Cluster) Cell {
	cell := Cell{
		Name: cluster.Name, City: naming.CityLabel(cluster.Labels[v1alpha.LabelTopologyCity]),
		Since: cluster.CreationTimestamp.Time, Gone: !cluster.DeletionTimestamp.IsZero() || IsForgotten(cluster),
		Balancer: cluster.Annotations[v1alpha.AnnotationLoadBalancer],
	}
	if condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady); condition != nil {
		cell.Ready = condition.Status == metav1.ConditionTrue
		cell.Since = condition.LastTransitionTime.Time
	}
	// Other texts, which the admission policy of the chart refuses, have no meaning.
	if most, err := strconv.ParseUint(cluster.Annotations[v1alpha.AnnotationNodesOnDemand], 10, 32); err == nil && most <= maxOnDemand {
		cell.OnDemand = int32(most)
	}
	cell.Held = cluster.Annotations[v1alpha.AnnotationHoldCity] == "true"
	cell.summary = cluster.Status.ResourceSummary
	cell.Tainted = slices.ContainsFunc(cluster.Spec.Taints, refuses)
	cell.Cordoned = meta.IsStatusConditionFalse(cluster.Status.Conditions, v1alpha.ConditionComputeNodesSchedulable)
	if condition := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha.ConditionComputeAgentReady); condition != nil {
		down := []string{v1alpha.ReasonAgentMissing, v1alpha.ReasonAgentNotReady, v1alpha.ReasonAgentAPIMissing}
		if slices.Contains(down, condition.Reason) {
			cell.Agent = Agent{Down: true, Message: condition.Message}
		}
	}
	return cell
}

// IsForgotten reports whether an operator has forgotten a cell, because it is lost permanently. The Cluster was read
// through Cities.Hub.
func IsForgotten(cluster *clusterv1alpha1.Cluster) bool {
	return cluster.Annotations[v1alpha.AnnotationForget] == "true"
}

// Find returns the cell with a name.
func (c Cells) Find(name string) (Cell, bool) {
	index := slices.IndexFunc(c, func(cell Cell) bool { return cell.Name == name })
	if index < 0 {
		return Cell{}, false
	}
	return c[index], true
}

// Of returns the cells of a city, whose code may be in either case. A cell that is gone belongs to no city.
func (c Cells) Of(cityCode string) Cells {
	return slices.DeleteFunc(c.labelled(cityCode), func(cell Cell) bool { return cell.Gone })
}

// GoneOf returns the cells with the label of a city that are gone.
func (c Cells) GoneOf(cityCode string) Cells {
	return slices.DeleteFunc(c.labelled(cityCode), func(cell Cell) bool { return !cell.Gone })
}

func (c Cells) labelled(cityCode string) Cells {
	return slices.DeleteFunc(slices.Clone(c), func(cell Cell) bool {
		return cell.City == "" || cell.City != naming.CityLabel(cityCode)
	})
}

// Exists reports whether a cell of this name exists in any city and is not gone.
func (c Cells) Exists(name string) bool {
	return slices.ContainsFunc(c, func(cell Cell) bool { return cell.Name == name && !cell.Gone })
}

// Ready reports whether a cell of this name exists and is Ready.
func (c Cells) Ready(name string) bool {
	return slices.ContainsFunc(c, func(cell Cell) bool { return cell.Name == name && cell.Ready })
}

// AnyReady reports whether one of the cells is Ready.
func (c Cells) AnyReady() bool {
	return slices.ContainsFunc(c, func(cell Cell) bool { return cell.Ready })
}

// Changed drops updates of Clusters that do not change their Cell.
func Changed() predicate.Predicate {
	return predicate.Or(predicate.LabelChangedPredicate{}, watch.DeletionStarted(), predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isCluster := e.ObjectOld.(*clusterv1alpha1.Cluster)
			after, stillIs := e.ObjectNew.(*clusterv1alpha1.Cluster)
			return isCluster && stillIs && (differs(NewCell(before), NewCell(after)) || foreignSecret(before) != foreignSecret(after))
		},
	})
}

// differs reports whether the update changes Ready, Gone or Cordoned of a Cell.
func differs(before, after Cell) bool {
	return before.Ready != after.Ready || before.Gone != after.Gone || before.Cordoned != after.Cordoned
}

// HealthChanged is Changed, and also passes changes of the agent.
func HealthChanged() predicate.Predicate {
	return predicate.Or(Changed(), predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isCluster := e.ObjectOld.(*clusterv1alpha1.Cluster)
			after, stillIs := e.ObjectNew.(*clusterv1alpha1.Cluster)
			return isCluster && stillIs && NewCell(before).Agent.Down != NewCell(after).Agent.Down
		},
	})
}
