// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Gone deletes the add-on's objects for cells that are lost permanently, and releases Works whose objects are gone from
// their cell. Every replica runs one, and the first one does the work. It is safe for concurrent use.
type Gone struct {
	// Hub reads Clusters from a cache and writes to the hub.
	Hub client.Client
	// Cities has the annotation that forgets a cell.
	Cities *Cities
	// APIReader lists the Works of a cell: the cache does not have all of them.
	APIReader client.Reader
	// Clock gives the condition its transition times.
	Clock clock.PassiveClock
}

// Register adds the controller to a manager.
func (r *Gone) Register(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("cells-gone").
		For(&clusterv1alpha1.Cluster{}, builder.WithPredicates(concerned())).
		WatchesRawSource(Watch(r.Cities, func(_ context.Context, cell client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(cell)}}
		})).
		Watches(&workv1alpha1.Work{}, handler.EnqueueRequestsFromMapFunc(cellOfWork),
			builder.WithPredicates(predicate.NewPredicateFuncs(isPreserved))).
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		Complete(r)
}

// concerned passes Clusters whose readiness has changed, or that are being deleted.
func concerned() predicate.Predicate {
	return predicate.And(Changed(), predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return false }})
}

const (
	// goneFieldManager is the field manager of this controller's writes.
	goneFieldManager apply.FieldManager = "karmada-compute-forget"
	// dropInterval is the delay before the Works of a cell are listed again: Karmada deletes them one after the other.
	dropInterval = 5 * time.Second
)

var kindWork = schema.GroupVersionKind{Group: workv1alpha1.GroupName, Version: workv1alpha1.GroupVersion.Version, Kind: "Work"}

// Reconcile deletes the add-on's objects for one cell. After a conflict with Karmada, Karmada's write requeues the
// Cluster.
func (r *Gone) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &clusterv1alpha1.Cluster{}
	if err := r.Hub.Get(ctx, request.NamespacedName, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	confirmed, err := r.Cities.confirmed(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	wanted, result := map[string]*metav1.Condition{v1alpha.ConditionComputeForgotten: nil}, reconcile.Result{}
	forgotten := confirmed[karmadanames.GenerateExecutionSpaceName(cluster.Name)].settings[v1alpha.AnnotationForget] == "true"
	if forgotten {
		left, err := r.dropWorks(ctx, cluster)
		if err != nil {
			return reconcile.Result{}, err
		}
		wanted[v1alpha.ConditionComputeForgotten] = goneCondition(cluster, left)
		if left > 0 {
			result.RequeueAfter = dropInterval
		}
	}
	// Karmada ends no preserved Work without the cell, even if the Cluster is unjoined.
	if isReady(cluster) || forgotten || !cluster.DeletionTimestamp.IsZero() {
		wait, err := r.releasePreserved(ctx, cluster)
		if err != nil {
			return reconcile.Result{}, err
		}
		result.RequeueAfter = cmp.Or(result.RequeueAfter, wait)
	}
	return result, conditions{r.Hub, r.APIReader, r.Clock}.write(ctx, cluster, wanted)
}

// dropWorks drops the Works of the add-on for a cell and returns how many there were.
func (r *Gone) dropWorks(ctx context.Context, cluster *clusterv1alpha1.Cluster) (left int, err error) {
	var works metav1.PartialObjectMetadataList
	works.SetGroupVersionKind(kindWork.GroupVersion().WithKind("WorkList"))
	if err := r.APIReader.List(ctx, &works, client.InNamespace(karmadanames.GenerateExecutionSpaceName(cluster.Name))); err != nil {
		return 0, fmt.Errorf("list the Works of cell %s: %w", cluster.Name, err)
	}
	for i := range works.Items {
		work := &works.Items[i]
		if !isOurs(work) {
			continue
		}
		left++
		work.SetGroupVersionKind(kindWork)
		if err := r.drop(ctx, work, isReady(cluster)); err != nil {
			return left, err
		}
	}
	return left, nil
}

// isOurs reports whether a Work carries a hub namespace or an object in a hub namespace.
func isOurs(work client.Object) bool {
	return naming.IsHubNamespace(work.GetLabels()[v1alpha.LabelHubNamespace]) ||
		naming.IsHubNamespace(work.GetAnnotations()[workv1alpha2.ResourceBindingNamespaceAnnotationKey])
}

// drop deletes a Work that carries a namespace; Karmada deletes the others, since no policy selects the cell any more.
// A Work that is being deleted waits for the cell, and loses its finalizer if the cell does not answer: if the cell
// ever recovers, the inventory finds the objects that it still runs.
func (r *Gone) drop(ctx context.Context, work *metav1.PartialObjectMetadata, ready bool) error {
	if work.DeletionTimestamp.IsZero() {
		if work.Labels[v1alpha.LabelHubNamespace] == "" {
			return nil
		}
		if err := r.Hub.Delete(ctx, work, client.Preconditions{UID: &work.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Work %s: %w", client.ObjectKeyFromObject(work), err)
		}
		return nil
	}
	if ready || !slices.Contains(work.Finalizers, ExecutionFinalizer) {
		return nil
	}
	if err := r.release(ctx, work); err != nil {
		return err
	}
	log.FromContext(ctx).Info("Let go of a Work for a cell that is gone for good", "work", work.Name, "namespace", work.Namespace)
	return nil
}

// release removes Karmada's finalizer from a Work that is being deleted. It is no error if another client was faster.
func (r *Gone) release(ctx context.Context, work client.Object) error {
	err := apply.RemoveFinalizer(ctx, r.Hub, goneFieldManager, work, ExecutionFinalizer)
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func isReady(cluster *clusterv1alpha1.Cluster) bool {
	return meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady)
}

// goneCondition returns the condition that shows the progress of forgetting a cell.
func goneCondition(cluster *clusterv1alpha1.Cluster, left int) *metav1.Condition {
	c := &metav1.Condition{Type: v1alpha.ConditionComputeForgotten, Status: metav1.ConditionFalse, ObservedGeneration: cluster.Generation}
	switch {
	case left == 0:
		c.Status, c.Reason = metav1.ConditionTrue, v1alpha.ReasonForgotten
		c.Message = "nothing of karmada-compute is kept for this cell; remove annotation " + v1alpha.AnnotationForget +
			" of namespace " + karmadanames.GenerateExecutionSpaceName(cluster.Name) + " to use it again"
	case isReady(cluster):
		c.Reason, c.Message = v1alpha.ReasonDraining, "Karmada is deleting in this cell what karmada-compute ran in it"
	default:
		c.Reason, c.Message = v1alpha.ReasonDropping, "Karmada is deleting the Works for this cell, without waiting for the cell"
	}
	return c
}
