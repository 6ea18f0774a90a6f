// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/hub/origin"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-projection"

// Projects finds the cluster of a project that this replica owns.
type Projects interface {
	Get(ctx context.Context, name multicluster.ClusterName) (cluster.Cluster, error)
}

// Reconciler shows in a project what its cells report. It is safe for concurrent use.
type Reconciler struct {
	// Projects are the projects that this replica owns.
	Projects Projects
	// Hub reads the hub from a cache.
	Hub client.Reader
	// Clock stamps conditions that are not a cell's own.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	return mcbuilder.ControllerManagedBy(mgr).
		Named("projection").
		For(&v1alpha.WorkloadDeployment{}).
		// An Instance that a consumer edited or deleted is put back.
		Owns(&v1alpha.Instance{}).
		Watches(&v1alpha.WorkloadDeployment{}, origin.OnHubEvent(origin.OfCopy),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false)).
		// What no cell has room for is said.
		Watches(&workv1alpha2.ResourceBinding{}, origin.OnHubEvent(origin.OfBinding(r.Hub)),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false), mcbuilder.WithPredicates(scheduled())).
		WithOptions(options).
		Complete(wrap(r.Reconcile))
}

// scheduled passes changes of what Karmada's scheduler says.
func scheduled() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isBinding := e.ObjectOld.(*workv1alpha2.ResourceBinding)
			after, stillIs := e.ObjectNew.(*workv1alpha2.ResourceBinding)
			return isBinding && stillIs && refusal(before) != refusal(after)
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}
