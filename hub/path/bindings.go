// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"fmt"
	"slices"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// GetBinding returns the ResourceBinding of a copy, or nil before Karmada has created it.
func GetBinding(ctx context.Context, hub client.Reader, copied types.NamespacedName) (*workv1alpha2.ResourceBinding, error) {
	binding := &workv1alpha2.ResourceBinding{}
	name := types.NamespacedName{
		Namespace: copied.Namespace, Name: karmadanames.GenerateBindingName(v1alpha.KindWorkloadDeployment, copied.Name),
	}
	err := hub.Get(ctx, name, binding)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get the ResourceBinding of the hub's copy: %w", err)
	}
	return binding, nil
}

// Refusal is Karmada's reason why it found no cells for a deployment, or "" when it found some or has not tried yet.
// binding may be nil.
func Refusal(binding *workv1alpha2.ResourceBinding) string {
	if binding == nil {
		return ""
	}
	condition := meta.FindStatusCondition(binding.Status.Conditions, workv1alpha2.Scheduled)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return ""
	}
	return condition.Message
}

// OfDeploymentBinding requests the original of the copy that a ResourceBinding binds. It requests nothing if the
// binding is not about a WorkloadDeployment, or if the hub's cache does not have the copy yet: the copy's own event
// follows.
func OfDeploymentBinding(hub client.Reader) func(context.Context, client.Object) []mcreconcile.Request {
	return func(ctx context.Context, changed client.Object) []mcreconcile.Request {
		binding, ok := changed.(*workv1alpha2.ResourceBinding)
		if !ok || !isOf(binding, v1alpha.KindWorkloadDeployment) {
			return nil
		}
		copied := &v1alpha.WorkloadDeployment{}
		if err := hub.Get(ctx, types.NamespacedName{Namespace: binding.Namespace, Name: binding.Spec.Resource.Name}, copied); err != nil {
			return nil
		}
		return projects.OfCopy(ctx, copied)
	}
}

// isOf reports whether a binding binds a kind of the add-on.
func isOf(binding *workv1alpha2.ResourceBinding, kind string) bool {
	return binding.Spec.Resource.Kind == kind && binding.Spec.Resource.APIVersion == v1alpha.GroupVersion.String()
}

// IsOfData reports whether a ResourceBinding is about a ConfigMap or Secret in a hub namespace.
func IsOfData(obj client.Object) bool {
	binding, ok := obj.(*workv1alpha2.ResourceBinding)
	if !ok || !naming.IsHubNamespace(binding.Namespace) || binding.Spec.Resource.APIVersion != "v1" {
		return false
	}
	return binding.Spec.Resource.Kind == templates.KindConfigMap || binding.Spec.Resource.Kind == templates.KindSecret
}

// RefusalChanged drops deletions, and updates that do not change the Refusal.
func RefusalChanged() predicate.Predicate {
	return onUpdate(func(before, after *workv1alpha2.ResourceBinding) bool { return Refusal(before) != Refusal(after) })
}

// DivisionChanged drops deletions, and updates that change neither the number of Instances of each cell nor, in divided
// bindings, the indices that the cells report. Bindings must come trimmed out of the cache.
func DivisionChanged() predicate.Predicate {
	return onUpdate(func(before, after *workv1alpha2.ResourceBinding) bool {
		return !equality.Semantic.DeepEqual(before.Spec.Clusters, after.Spec.Clusters) ||
			(hasIndices(before) || hasIndices(after)) && !sameDivision(before.Status.AggregatedStatus, after.Status.AggregatedStatus)
	})
}

// sameDivision reports whether the cells report the same indices and generations. The number of Ready Instances does
// not count.
func sameDivision(before, after []workv1alpha2.AggregatedStatusItem) bool {
	return slices.EqualFunc(before, after, func(a, b workv1alpha2.AggregatedStatusItem) bool {
		if a.ClusterName != b.ClusterName || sameRaw(a.Status, b.Status) {
			return a.ClusterName == b.ClusterName
		}
		x, y := DecodeReport(a.Status), DecodeReport(b.Status)
		return x != nil && y != nil && x.Generation == y.Generation && x.ObservedGeneration == y.ObservedGeneration &&
			x.ResourceTemplateGeneration == y.ResourceTemplateGeneration && slices.Equal(x.Indices, y.Indices)
	})
}

func onUpdate(changed func(before, after *workv1alpha2.ResourceBinding) bool) predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isBinding := e.ObjectOld.(*workv1alpha2.ResourceBinding)
			after, stillIs := e.ObjectNew.(*workv1alpha2.ResourceBinding)
			// A watch that was down reports a recreated binding as an update.
			return isBinding && stillIs && (before.UID != after.UID || changed(before, after))
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// SliceReports returns the cells' reports in a slice of a copy. It returns none before Karmada has a ResourceBinding of
// this very slice, or if the slice belongs to another copy. It omits cells whose agent has not written the slice.
func SliceReports(
	ctx context.Context, hub client.Reader, copied *v1alpha.WorkloadDeployment, number int,
) ([]v1alpha.InstanceReport, error) {
	name := types.NamespacedName{Namespace: copied.Namespace, Name: naming.SliceName(copied.Name, number)}
	slice, binding := &v1alpha.InstanceSlice{}, &workv1alpha2.ResourceBinding{}
	if err := hub.Get(ctx, name, slice); err != nil {
		return nil, ignoreNotFound(err, "get the InstanceSlice of the hub's copy")
	}
	name.Name = karmadanames.GenerateBindingName(v1alpha.KindInstanceSlice, name.Name)
	if err := hub.Get(ctx, name, binding); err != nil {
		return nil, ignoreNotFound(err, "get the ResourceBinding of an InstanceSlice")
	}
	owner := metav1.GetControllerOfNoCopy(binding)
	if owner == nil || owner.UID != slice.UID || len(slice.OwnerReferences) == 0 || slice.OwnerReferences[0].UID != copied.UID {
		return nil, nil
	}
	return decodeSlices(binding.Status.AggregatedStatus), nil
}

func ignoreNotFound(err error, doing string) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// decodeSlices returns the reports of cells, each with the name of its cell. It skips reports that cannot be decoded or
// that no agent has written.
func decodeSlices(items []workv1alpha2.AggregatedStatusItem) []v1alpha.InstanceReport {
	var reports []v1alpha.InstanceReport
	for i := range items {
		if items[i].Status == nil {
			continue
		}
		if report, ok := wire.DecodeSlice(items[i].ClusterName, items[i].Status.Raw); ok {
			reports = append(reports, report)
		}
	}
	return reports
}

// OfSliceBinding requests a slice that a ResourceBinding binds, by its name in the namespace of the project. It
// requests nothing if the binding is of another kind.
func OfSliceBinding(hub client.Reader) func(context.Context, client.Object) []mcreconcile.Request {
	return func(ctx context.Context, changed client.Object) []mcreconcile.Request {
		binding, ok := changed.(*workv1alpha2.ResourceBinding)
		if !ok || !isOf(binding, v1alpha.KindInstanceSlice) {
			return nil
		}
		return requestBound(ctx, hub, binding)
	}
}

// SliceReportChanged drops updates of bindings that do not change the cells' reports.
func SliceReportChanged() predicate.Predicate {
	return onUpdate(func(before, after *workv1alpha2.ResourceBinding) bool {
		return !sameItems(before.Status.AggregatedStatus, after.Status.AggregatedStatus) || controllerOf(before) != controllerOf(after)
	})
}

func sameItems(before, after []workv1alpha2.AggregatedStatusItem) bool {
	return slices.EqualFunc(before, after, func(a, b workv1alpha2.AggregatedStatusItem) bool {
		return a.ClusterName == b.ClusterName && sameRaw(a.Status, b.Status)
	})
}

func controllerOf(binding *workv1alpha2.ResourceBinding) types.UID {
	if owner := metav1.GetControllerOfNoCopy(binding); owner != nil {
		return owner.UID
	}
	return ""
}

// trimSlice keeps the target cells and the cells' reports in the binding of a slice.
func trimSlice(binding, trimmed *workv1alpha2.ResourceBinding) {
	trimOwner(binding, trimmed)
	trimmed.Spec = workv1alpha2.ResourceBindingSpec{Resource: binding.Spec.Resource, RequiredBy: binding.Spec.RequiredBy}
	trimmed.Spec.Resource.ResourceVersion = ""
	for i := range binding.Status.AggregatedStatus {
		item := &binding.Status.AggregatedStatus[i]
		trimmed.Status.AggregatedStatus = append(trimmed.Status.AggregatedStatus,
			workv1alpha2.AggregatedStatusItem{ClusterName: item.ClusterName, Status: item.Status})
	}
}
