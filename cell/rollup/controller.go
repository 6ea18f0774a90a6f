// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-cell-rollup"

// Reconciler writes the status of WorkloadDeployments and of their InstanceSlices. Create it with New. It is safe for
// concurrent use.
type Reconciler struct {
	client   client.Client
	clock    clock.PassiveClock
	pace     *pacer
	upToDate *upToDate
}

// New returns a reconciler. c reads from the cache and writes to the cell; clock gives conditions their transition
// times and paces writes.
func New(c client.Client, clock clock.PassiveClock) *Reconciler {
	known := &upToDate{byDeployment: map[types.NamespacedName]map[int]compared{}}
	return &Reconciler{client: c, clock: clock, pace: newPacer(clock), upToDate: known}
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("rollup").
		For(&v1alpha.WorkloadDeployment{}).
		Owns(&v1alpha.Instance{}).
		Watches(&v1alpha.InstanceSlice{}, handler.EnqueueRequestsFromMapFunc(ofSlice)).
		Owns(&autoscalingv2.HorizontalPodAutoscaler{}).
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(floorEvents())).
		// The load balancer of the cell gives a Service its addresses.
		Watches(&corev1.Service{}, handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha.WorkloadDeployment{})).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(onNode(r.client)), builder.WithPredicates(disruption.CordonChanged())).
		WithOptions(options).
		Complete(r)
}
