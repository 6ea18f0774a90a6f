// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"fmt"
	"strings"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
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
	condition := refused(binding)
	if condition == nil {
		return ""
	}
	return condition.Message
}

// LacksCapacity reports whether a Refusal says that cells could take the Instances if they had more capacity.
func LacksCapacity(binding *workv1alpha2.ResourceBinding) bool {
	condition := refused(binding)
	return condition != nil && condition.Reason == workv1alpha2.BindingReasonUnschedulable
}

// RefusedSince returns when Karmada began to find no cells for a deployment; the zero time if it has a Refusal of "".
// binding may be nil.
func RefusedSince(binding *workv1alpha2.ResourceBinding) time.Time {
	condition := refused(binding)
	if condition == nil {
		return time.Time{}
	}
	return condition.LastTransitionTime.Time
}

// TakeNone reports whether a Refusal says that cells take no new Instances, which only an operator can change: they have a taint, or
// Karmada evicts from them because of one. The texts come from Karmada's scheduler.
func TakeNone(refusal string) bool {
	return strings.Contains(refusal, "had untolerated taint") || strings.Contains(refusal, "in the process of eviction")
}

func refused(binding *workv1alpha2.ResourceBinding) *metav1.Condition {
	if binding == nil {
		return nil
	}
	condition := meta.FindStatusCondition(binding.Status.Conditions, workv1alpha2.Scheduled)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return nil
	}
	return condition
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

// DivisionChanged drops deletions, and updates that do not change the number of Instances of each cell.
func DivisionChanged() predicate.Predicate {
	return onUpdate(func(before, after *workv1alpha2.ResourceBinding) bool {
		return !equality.Semantic.DeepEqual(before.Spec.Clusters, after.Spec.Clusters)
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

// SliceReports returns the cells' reports in a slice of a copy, from the Works that carry this very slice. It returns none
// if the slice belongs to another copy. It omits cells whose agent has not written the slice.
func SliceReports(
	ctx context.Context, hub client.Reader, copied *v1alpha.WorkloadDeployment, number int,
) ([]v1alpha.InstanceReport, error) {
	slice := &v1alpha.InstanceSlice{}
	name := types.NamespacedName{Namespace: copied.Namespace, Name: naming.SliceName(copied.Name, number)}
	if err := hub.Get(ctx, name, slice); err != nil {
		return nil, ignoreNotFound(err, "get the InstanceSlice of the hub's copy")
	}
	if len(slice.OwnerReferences) == 0 || slice.OwnerReferences[0].UID != copied.UID {
		return nil, nil
	}
	binding, err := GetBinding(ctx, hub, client.ObjectKeyFromObject(copied))
	if err != nil {
		return nil, err
	}
	var reports []v1alpha.InstanceReport
	for _, cell := range cellsOf(copied, binding) {
		work := &workv1alpha1.Work{}
		if err := hub.Get(ctx, sliceWork(cell, name), work); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get the Work of an InstanceSlice: %w", err)
		}
		if sliceUIDOf(work) != slice.UID {
			continue
		}
		if report, ok := sliceReport(cell, work); ok {
			reports = append(reports, report)
		}
	}
	return reports, nil
}

func ignoreNotFound(err error, doing string) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// OfSliceBinding requests a slice that a ResourceBinding binds, by its name in the namespace of the project. It
// requests nothing if the binding is of another kind.
func OfSliceBinding(hub client.Reader) func(context.Context, client.Object) []mcreconcile.Request {
	return func(ctx context.Context, changed client.Object) []mcreconcile.Request {
		binding, ok := changed.(*workv1alpha2.ResourceBinding)
		if !ok || !isOf(binding, v1alpha.KindInstanceSlice) {
			return nil
		}
		return requestCopied(ctx, hub, types.NamespacedName{Namespace: binding.Namespace, Name: binding.Spec.Resource.Name})
	}
}

func controllerOf(binding *workv1alpha2.ResourceBinding) types.UID {
	if owner := metav1.GetControllerOfNoCopy(binding); owner != nil {
		return owner.UID
	}
	return ""
}

// trimSlice keeps the owner in the binding of a slice.
func trimSlice(binding, trimmed *workv1alpha2.ResourceBinding) {
	trimOwner(binding, trimmed)
	trimmed.Spec = workv1alpha2.ResourceBindingSpec{Resource: binding.Spec.Resource, RequiredBy: binding.Spec.RequiredBy}
	trimmed.Spec.Resource.ResourceVersion = ""
}
