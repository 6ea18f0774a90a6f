// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// BindingOf returns the ResourceBinding that Karmada creates for a copy.
func BindingOf(copied *v1alpha.WorkloadDeployment) *workv1alpha2.ResourceBinding {
	gvk := v1alpha.GroupVersion.WithKind(v1alpha.KindWorkloadDeployment)
	return &workv1alpha2.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: copied.Namespace, Name: karmadanames.GenerateBindingName(gvk.Kind, copied.Name),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(copied, gvk)},
		},
		Spec: workv1alpha2.ResourceBindingSpec{Resource: workv1alpha2.ObjectReference{
			APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: copied.Namespace, Name: copied.Name,
			UID: copied.UID, ResourceVersion: copied.ResourceVersion,
		}},
	}
}

// WorkOf returns the Work that Karmada creates from a copy for a cell.
func WorkOf(t testing.TB, copied *v1alpha.WorkloadDeployment, cell string) *workv1alpha1.Work {
	t.Helper()
	manifest := &v1alpha.WorkloadDeployment{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: copied.Namespace, Name: copied.Name, Labels: maps.Clone(copied.Labels), Annotations: map[string]string{},
		},
		Spec: copied.Spec,
	}
	maps.Copy(manifest.Annotations, copied.Annotations)
	manifest.Annotations[workv1alpha2.ResourceTemplateGenerationAnnotationKey] = strconv.FormatInt(copied.Generation, 10)
	manifest.Annotations[workv1alpha2.ResourceTemplateUIDAnnotation] = string(copied.UID)
	raw, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return &workv1alpha1.Work{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:  ExecutionSpace(cell),
			Name:       karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, copied.Name, copied.Namespace),
			Finalizers: []string{"karmada.io/execution-controller"},
			Annotations: map[string]string{
				workv1alpha2.ResourceBindingNamespaceAnnotationKey: copied.Namespace,
				workv1alpha2.ResourceBindingNameAnnotationKey:      karmadanames.GenerateBindingName(v1alpha.KindWorkloadDeployment, copied.Name),
			},
		},
		Spec: workv1alpha1.WorkSpec{
			SuspendDispatching: new(false),
			Workload:           workv1alpha1.WorkloadTemplate{Manifests: []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}},
		},
	}
}

// Deliver propagates the present copy to cells as Karmada does, and collects these statuses from them. It writes the
// binding and the Works, not the copy. A nil status is a cell that reports nothing.
func (p *Planes) Deliver(t testing.TB, copied *v1alpha.WorkloadDeployment, cells map[string]*v1alpha.WorkloadDeploymentStatus) {
	t.Helper()
	copied = Get(t, p, copied.Namespace, copied.Name, copied.DeepCopy())
	binding := BindingOf(copied)
	var reports []workv1alpha2.AggregatedStatusItem
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell})
		report := Report(t, copied, cells[cell])
		reports = append(reports, workv1alpha2.AggregatedStatusItem{ClusterName: cell, Applied: true, Status: report})
		p.CarryOut(t, WorkOf(t, copied, cell), report)
	}
	desired := binding.DeepCopy()
	Ensure(t, p, binding, func(b *workv1alpha2.ResourceBinding) {
		b.OwnerReferences, b.Spec = desired.OwnerReferences, desired.Spec
	})
	ChangeStatus(t, p, binding, func(b *workv1alpha2.ResourceBinding) { b.Status.AggregatedStatus = reports })
}

// DeliverSlice propagates a slice to cells as Karmada does, with these reports of them.
func (p *Planes) DeliverSlice(t testing.TB, slice *v1alpha.InstanceSlice, reports map[string]*runtime.RawExtension) {
	t.Helper()
	for cell, report := range reports {
		manifest := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"namespace":%q,"name":%q,"annotations":{%q:%q}},"spec":{}}`,
			v1alpha.GroupVersion.String(), v1alpha.KindInstanceSlice, slice.Namespace, slice.Name,
			workv1alpha2.ResourceTemplateUIDAnnotation, slice.UID)
		p.CarryOut(t, &workv1alpha1.Work{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: ExecutionSpace(cell), Name: karmadanames.GenerateWorkName(v1alpha.KindInstanceSlice, slice.Name, slice.Namespace),
			},
			Spec: workv1alpha1.WorkSpec{Workload: workv1alpha1.WorkloadTemplate{
				Manifests: []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: manifest}}},
			}},
		}, report)
	}
}

// CarryOut creates a Work that is applied and reported on.
func (p *Planes) CarryOut(t testing.TB, work *workv1alpha1.Work, report *runtime.RawExtension) {
	t.Helper()
	desired := work.DeepCopy()
	Ensure(t, p, work, func(w *workv1alpha1.Work) { w.Spec = desired.Spec })
	ChangeStatus(t, p, work, func(w *workv1alpha1.Work) {
		w.Status.Conditions = []metav1.Condition{{
			Type: workv1alpha1.WorkApplied, Status: metav1.ConditionTrue, Reason: "AppliedSuccessful", LastTransitionTime: metav1.Now(),
		}}
		w.Status.ManifestStatuses = nil
		if report != nil {
			w.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{
				Identifier: workv1alpha1.ResourceIdentifier{
					Kind: v1alpha.KindWorkloadDeployment, Version: v1alpha.GroupVersion.Version,
				}, Status: report,
			}}
		}
	})
}

// Report returns a cell's report on the present copy: its agent has acted on the copy, and has written this status. It
// is nil for no status.
func Report(t testing.TB, copied *v1alpha.WorkloadDeployment, status *v1alpha.WorkloadDeploymentStatus) *runtime.RawExtension {
	t.Helper()
	if status == nil {
		return nil
	}
	reported := struct {
		v1alpha.WorkloadDeploymentStatus `json:",inline"`
		Generation                       int64 `json:"generation"`
		ResourceTemplateGeneration       int64 `json:"resourceTemplateGeneration"`
	}{*status.DeepCopy(), 1, copied.Generation}
	reported.ObservedGeneration = 1
	raw, err := json.Marshal(reported)
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: raw}
}

// Ensure creates an object, or changes it by f if it exists.
func Ensure[T client.Object](t testing.TB, p *Planes, obj T, f func(T)) T {
	t.Helper()
	err := p.Client.Create(t.Context(), obj)
	if apierrors.IsAlreadyExists(err) {
		return Change(t, p, obj, f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return obj
}
