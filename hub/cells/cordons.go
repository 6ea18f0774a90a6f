// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"encoding/json"
	"fmt"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Cordons maintains condition ComputeNodesSchedulable of Clusters, from the cells' reports. Every replica runs it: it
// writes a condition only if it changes.
type Cordons struct {
	// Hub reads from the cache and writes.
	Hub client.Client
	// Reader reads the hub without a cache.
	Reader client.Reader
	// Clock gives conditions their transition times.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager of the hub.
func (r *Cordons) Register(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("cells-cordons").
		For(&clusterv1alpha1.Cluster{}).
		Watches(&workv1alpha1.Work{}, handler.EnqueueRequestsFromMapFunc(ofInventory)).
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		Complete(r)
}

// ofInventory returns a request for the Cluster of an inventory's Work.
func ofInventory(_ context.Context, work client.Object) []reconcile.Request {
	if work.GetLabels()[v1alpha.LabelInventory] != v1alpha.InventoryCell {
		return nil
	}
	name, err := karmadanames.GetClusterName(work.GetNamespace())
	if err != nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: name}}}
}

// Reconcile writes the condition of one Cluster.
func (r *Cordons) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1alpha1.Cluster{}
	if err := r.Hub.Get(ctx, request.NamespacedName, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cordoned, err := r.cordoned(ctx, cluster)
	if err != nil || cordoned == nil {
		// The cell's last report remains: its condition Ready shows that it does not respond.
		return reconcile.Result{}, err
	}
	wanted := &metav1.Condition{
		Type: v1alpha.ConditionComputeNodesSchedulable, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonNodesSchedulable,
		ObservedGeneration: cluster.Generation,
	}
	if *cordoned {
		wanted.Status, wanted.Reason = metav1.ConditionFalse, v1alpha.ReasonNodesCordoned
		wanted.Message = "all nodes of the cell are cordoned; new deployments go to the other cells of the city that have " +
			"capacity; uncordon a node"
	}
	return reconcile.Result{}, conditions{r.Hub, r.Reader, r.Clock}.write(ctx, cluster, map[string]*metav1.Condition{wanted.Type: wanted})
}

// cordoned returns whether a cell reports all of its Nodes as cordoned; nil: it does not report cordons.
func (r *Cordons) cordoned(ctx context.Context, cluster *clusterv1alpha1.Cluster) (*bool, error) {
	if !isCell(cluster) {
		return nil, nil
	}
	var works workv1alpha1.WorkList
	if err := r.Hub.List(ctx, &works, client.InNamespace(karmadanames.GenerateExecutionSpaceName(cluster.Name)),
		client.MatchingLabels{v1alpha.LabelInventory: v1alpha.InventoryCell}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the Works of the inventory of cell %s: %w", cluster.Name, err)
	}
	for i := range works.Items {
		for _, manifest := range works.Items[i].Status.ManifestStatuses {
			var reported struct {
				Cordoned *bool `json:"cordoned"`
			}
			if manifest.Status != nil && json.Unmarshal(manifest.Status.Raw, &reported) == nil && reported.Cordoned != nil {
				return reported.Cordoned, nil
			}
		}
	}
	return nil, nil
}
