// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"maps"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/collector"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// FieldManager is the field manager of this controller.
const FieldManager apply.FieldManager = "karmada-compute-cell-deployments"

// Reconciler keeps the Instances of WorkloadDeployments. It is safe for concurrent use.
type Reconciler struct {
	// Client reads from the cache and writes to the cell.
	Client client.Client
	// APIReader reads Instances that have the name of another one.
	APIReader client.Reader
	// Strays adopts or deletes Instances of an earlier WorkloadDeployment of the same name.
	Strays *collector.Keeper
	// Evictor evicts the Pods of Instances with a disruption budget.
	Evictor *disruption.Evictor
	// External reports whether another runtime runs the Instances of a template. They never change.
	External func(*v1alpha.InstanceSpec) bool
	// Trial asks the cell whether it accepts the next Pod of an Instance, before the Instance is stopped.
	Trial *runtime.Trial
	// Recorder records Events about Instances that the cell refuses.
	Recorder record.EventRecorder
	// Clock measures how long a created Instance is awaited in the cache.
	Clock clock.PassiveClock

	created created
	// stopped are the Pods that were stopped for another template, by their UIDs.
	stopped created
	// answers has the cell's answers about the templates that Instances must get.
	answers answers
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(mgr ctrl.Manager, options controller.Options) error {
	b := ctrl.NewControllerManagedBy(mgr).
		Named("deployments").
		// The status is rollup's.
		For(&v1alpha.WorkloadDeployment{}, builder.WithPredicates(owned.SpecChanged())).
		// An Instance that becomes Ready lets the next one start; a deleted Instance is recreated.
		Owns(&v1alpha.Instance{}, builder.WithPredicates(planChanged())).
		// A budget that allows no disruption holds Instances that must be replaced or deleted.
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(disruption.Allowed())).
		WithOptions(options)
	// No Instance is deleted for a template whose data is not in the cell yet.
	return runtime.WatchData(b, r.templates, predicate.LabelChangedPredicate{}).Complete(r)
}

func (r *Reconciler) templates(ctx context.Context, namespace string) (map[types.NamespacedName]*v1alpha.InstanceSpec, error) {
	var list v1alpha.WorkloadDeploymentList
	if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the WorkloadDeployments of namespace %s: %w", namespace, err)
	}
	templates := make(map[types.NamespacedName]*v1alpha.InstanceSpec, len(list.Items))
	for i := range list.Items {
		templates[client.ObjectKeyFromObject(&list.Items[i])] = &list.Items[i].Spec.Template.Spec
	}
	return templates, nil
}

// planChanged drops events of Instances that change no plan: creations, which only this controller does, and most
// updates of a starting Instance.
func planChanged() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(e event.UpdateEvent) bool {
		before, isInstance := e.ObjectOld.(*v1alpha.Instance)
		after, stillIs := e.ObjectNew.(*v1alpha.Instance)
		return isInstance && stillIs && (before.UID != after.UID || before.Generation != after.Generation ||
			owned.Ready(before) != owned.Ready(after) || owned.Available(before) != owned.Available(after) ||
			// Its first status since it was replaced in place may be about another Pod of the template before, which must be
			// stopped, too.
			owned.Superseded(before) != owned.Superseded(after) || deleting(before) != deleting(after) || !maps.Equal(before.Labels, after.Labels) ||
			!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences))
	}}
}
