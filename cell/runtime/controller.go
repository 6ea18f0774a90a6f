// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/collector"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-cell-runtime"

// Reconciler runs Instances as Pods. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// APIReader reads objects that are not in the cache: Pods of other owners, and the Events of evictions.
	APIReader client.Reader
	// Strays deletes Pods of an earlier Instance of the same name.
	Strays *collector.Keeper
	// Recorder records Events that a user must act on.
	Recorder record.EventRecorder
	// Settings configure how this cell runs Pods.
	Settings Settings
	// Passing are the delayed writes for starting Instances. Nil: no write is delayed.
	Passing *pace.Writes[types.NamespacedName]
	// Clock gives conditions their transition times, and Pods their age.
	Clock clock.PassiveClock

	// held are the contents of the data in the cell.
	held heldContents
}

// NewPassing returns the delayed writes for starting Instances. They are grouped by project: thousands of Instances
// that start in one delay no write of another.
func NewPassing(c clock.PassiveClock) *pace.Writes[types.NamespacedName] {
	return pace.NewGroupedWrites(c, func(instance types.NamespacedName) string { return instance.Namespace })
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	b := ctrl.NewControllerManagedBy(mgr).
		Named("runtime").
		For(&v1alpha.Instance{}).
		// The status of an Instance follows its Pod; a deleted Pod is recreated.
		Owns(&corev1.Pod{}).
		// In the spec of the deployment, the hub reports the granted quota and the suspension of the project.
		Watches(&v1alpha.WorkloadDeployment{}, handler.EnqueueRequestsFromMapFunc(owned.Requests(r.Client)),
			builder.WithPredicates(owned.SpecChanged())).
		WithOptions(options)
	// The data that a template names arrives separately from the deployment.
	return WatchData(b, r.specs, predicate.ResourceVersionChangedPredicate{}).Complete(r)
}

func (r *Reconciler) specs(ctx context.Context, namespace string) (map[types.NamespacedName]*v1alpha.InstanceSpec, error) {
	var list v1alpha.InstanceList
	if err := r.Client.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the Instances of namespace %s: %w", namespace, err)
	}
	specs := make(map[types.NamespacedName]*v1alpha.InstanceSpec, len(list.Items))
	for i := range list.Items {
		specs[client.ObjectKeyFromObject(&list.Items[i])] = &list.Items[i].Spec
	}
	return specs, nil
}
