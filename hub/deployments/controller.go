// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"

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
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-deployments"

// Reconciler keeps the WorkloadDeployments of Workloads. It is safe for concurrent use.
type Reconciler struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Locations says which cities a project may use.
	Locations projects.Locations
	// Clock gives conditions their transition times.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	return mcbuilder.ControllerManagedBy(mgr).
		Named("deployments").
		For(&v1alpha.Workload{}).
		Owns(&v1alpha.WorkloadDeployment{}).
		// A city without a location gets its deployment when the location appears.
		Watches(r.Locations.Object(), allWorkloads).
		WithOptions(options).
		Complete(wrap(r.Reconcile))
}

// allWorkloads requests every Workload of the project in which an event happened.
func allWorkloads(name multicluster.ClusterName, project cluster.Cluster) mchandler.EventHandler {
	list := func(ctx context.Context, _ client.Object) []reconcile.Request {
		var workloads v1alpha.WorkloadList
		if err := project.GetClient().List(ctx, &workloads); err != nil {
			// The list comes from a synced cache and fails only when the project is being disengaged.
			log.FromContext(ctx).Error(err, "Cannot list the Workloads to reconcile", "project", name)
			return nil
		}
		requests := make([]reconcile.Request, 0, len(workloads.Items))
		for i := range workloads.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&workloads.Items[i])})
		}
		return requests
	}
	return mchandler.ForCluster(handler.EnqueueRequestsFromMapFunc(list), name)
}

// scope is the state of one reconcile of a Workload.
type scope struct {
	*Reconciler
	client   client.Client
	events   events.EventRecorder
	workload *v1alpha.Workload
	// existing are the Workload's deployments by name.
	existing map[string]*v1alpha.WorkloadDeployment
	// cities are the cities that the project may use.
	cities []string
	plan   plan
}
