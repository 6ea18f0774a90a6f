// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-deployments"

// Projects finds the cluster of a project that this replica owns.
type Projects interface {
	Get(ctx context.Context, name multicluster.ClusterName) (cluster.Cluster, error)
}

// Locations says which cities a project may use.
type Locations interface {
	Object() client.Object
	CityCodes(ctx context.Context, project client.Reader) ([]string, error)
}

// Reconciler keeps the deployments of Workloads. It is safe for concurrent use.
type Reconciler struct {
	// Projects are the projects that this replica owns.
	Projects Projects
	// Locations says which cities a project may use.
	Locations Locations
	// Clock stamps conditions.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	return mcbuilder.ControllerManagedBy(mgr).
		Named("deployments").
		For(&v1alpha.Workload{}).
		Owns(&v1alpha.WorkloadDeployment{}).
		// A binding that appears gives waiting cities their deployments.
		Watches(r.Locations.Object(), allWorkloads).
		WithOptions(options).
		Complete(wrap(r.Reconcile))
}

// allWorkloads asks for every Workload of the project in which something changed.
func allWorkloads(name multicluster.ClusterName, project cluster.Cluster) mchandler.EventHandler {
	list := func(ctx context.Context, _ client.Object) []reconcile.Request {
		var workloads v1alpha.WorkloadList
		if err := project.GetClient().List(ctx, &workloads); err != nil {
			// A read of a synced cache fails only when the project goes away with its Workloads.
			log.FromContext(ctx).Error(err, "Workloads are not looked at again", "project", name)
			return nil
		}
		requests := make([]reconcile.Request, 0, len(workloads.Items))
		for i := range workloads.Items {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{
				Namespace: workloads.Items[i].Namespace, Name: workloads.Items[i].Name,
			}})
		}
		return requests
	}
	return mchandler.ForCluster(handler.EnqueueRequestsFromMapFunc(list), name)
}

// pass is one look at one Workload.
type pass struct {
	*Reconciler
	client   client.Client
	events   events.EventRecorder
	workload *v1alpha.Workload
	// existing are the Workload's deployments by name.
	existing map[string]*v1alpha.WorkloadDeployment
	// cities are those that the project may use.
	cities []string
	// plan is what should exist.
	plan plan
}
