// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/hub/bindings"
	"github.com/karmada-compute/karmada-compute/hub/origin"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-projection"

// Reconciler shows in a project what its cells report. It is safe for concurrent use.
type Reconciler struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Hub reads the hub from a cache.
	Hub client.Reader
	// Clock gives the conditions that no cell reports their transition times.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	return mcbuilder.ControllerManagedBy(mgr).
		Named("projection").
		For(&v1alpha.WorkloadDeployment{}).
		// An Instance that was edited or deleted by hand is restored.
		Owns(&v1alpha.Instance{}).
		Watches(&v1alpha.WorkloadDeployment{}, origin.OnHubEvent(origin.OfCopy),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false)).
		// The status says why Karmada's scheduler finds no room.
		Watches(&workv1alpha2.ResourceBinding{}, origin.OnHubEvent(bindings.Requests(r.Hub)),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false),
			mcbuilder.WithPredicates(bindings.RefusalChanged())).
		WithOptions(options).
		Complete(wrap(r.Reconcile))
}
