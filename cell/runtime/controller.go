// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// Owner is the field manager of this controller.
const Owner apply.Owner = "karmada-compute-runtime"

// Reconciler runs Instances as Pods. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// Live reads the cell itself, to see whose a Pod is that is not in the cache.
	Live client.Reader
	// Recorder tells of what a user must act on.
	Recorder events.EventRecorder
	// Clock stamps conditions.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("runtime").
		For(&v1alpha.Instance{}).
		// What a Pod does is what its Instance does; one that is lost comes back.
		Owns(&corev1.Pod{}).
		WithOptions(options).
		Complete(r)
}
