// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-rollup"

// Reconciler reports what the Instances of WorkloadDeployments do. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// Clock stamps conditions and paces writes.
	Clock clock.PassiveClock

	pace *pace
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	r.pace = newPace(r.Clock)
	return ctrl.NewControllerManagedBy(mgr).
		Named("rollup").
		For(&v1alpha.WorkloadDeployment{}).
		Owns(&v1alpha.Instance{}).
		WithOptions(options).
		Complete(r)
}
