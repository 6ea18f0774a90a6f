// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-deployments"

// Reconciler keeps the Instances of WorkloadDeployments. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// Recorder tells of Instances that the cell refuses.
	Recorder events.EventRecorder
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("deployments").
		// Its status is only reported from here, never acted on.
		For(&v1alpha.WorkloadDeployment{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// One that becomes Ready lets the next start; one that was deleted comes back.
		Owns(&v1alpha.Instance{}).
		WithOptions(options).
		Complete(r)
}
