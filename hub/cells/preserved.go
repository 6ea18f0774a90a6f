// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// preservedAfter is how long Karmada may take to end a Work that leaves its object in the cell: it only removes its
// labels from the object.
const preservedAfter = 15 * time.Second

// partOf is the label of every object of the chart.
const partOf, thisProduct = "app.kubernetes.io/part-of", "karmada-compute"

// isPreserved reports whether a Work is being deleted and leaves its object in the cell. Karmada ends such a Work only
// after it has written to the object. When the object is gone, with its namespace for example, Karmada tries forever:
// the object is never recreated, and a Cluster that is unjoined never ends.
func isPreserved(object client.Object) bool {
	work, ok := object.(*workv1alpha1.Work)
	return ok && !work.DeletionTimestamp.IsZero() && ptr.Deref(work.Spec.PreserveResourcesOnDeletion, false) &&
		slices.Contains(work.Finalizers, ExecutionFinalizer)
}

// TrimPreserved copies into a Work of a cache what tells that it is preserved, and nothing for other Works.
func TrimPreserved(work, trimmed *workv1alpha1.Work) {
	if isPreserved(work) {
		trimmed.DeletionTimestamp, trimmed.Finalizers = work.DeletionTimestamp, work.Finalizers
		trimmed.Spec.PreserveResourcesOnDeletion = work.Spec.PreserveResourcesOnDeletion
	}
}

// cellOfWork returns the request for the Cluster of a Work.
func cellOfWork(_ context.Context, work client.Object) []reconcile.Request {
	cell, err := karmadanames.GetClusterName(work.GetNamespace())
	if err != nil {
		return nil // It is in no namespace of Karmada's.
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: cell}}}
}

// releasePreserved releases the Works of the chart's objects that Karmada cannot end, and returns the time until the
// next one is due. Nothing in the cell depends on it: such a Work deletes nothing.
func (r *Gone) releasePreserved(ctx context.Context, cell *clusterv1alpha1.Cluster) (wait time.Duration, err error) {
	var works workv1alpha1.WorkList
	if err := r.Hub.List(ctx, &works, client.InNamespace(karmadanames.GenerateExecutionSpaceName(cell.Name))); err != nil {
		return 0, fmt.Errorf("list the Works of cell %s: %w", cell.Name, err)
	}
	for i := range works.Items {
		work := &works.Items[i]
		if !isPreserved(work) {
			continue
		}
		if remaining := work.DeletionTimestamp.Add(preservedAfter).Sub(r.Clock.Now()); remaining > 0 {
			if wait == 0 || remaining < wait {
				wait = remaining
			}
			continue
		}
		if err := r.releaseIfOurs(ctx, client.ObjectKeyFromObject(work)); err != nil {
			return wait, err
		}
	}
	return wait, nil
}

// releaseIfOurs reads the Work live: the cache has not kept whose it is.
func (r *Gone) releaseIfOurs(ctx context.Context, key types.NamespacedName) error {
	work := &workv1alpha1.Work{}
	if err := r.APIReader.Get(ctx, key, work); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !isPreserved(work) || !isOfTheChart(work) {
		return nil
	}
	if err := r.release(ctx, work); err != nil {
		return err
	}
	log.FromContext(ctx).Info("Released a Work that Karmada could not end", "work", key.Name, "namespace", key.Namespace)
	return nil
}

// isOfTheChart reports whether all objects in a Work are of the chart.
func isOfTheChart(work *workv1alpha1.Work) bool {
	for i := range work.Spec.Workload.Manifests {
		object := &unstructured.Unstructured{}
		if object.UnmarshalJSON(work.Spec.Workload.Manifests[i].Raw) != nil || object.GetLabels()[partOf] != thisProduct {
			return false
		}
	}
	return len(work.Spec.Workload.Manifests) > 0
}
