// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Slice holds the hub's objects on the path of one InstanceSlice of a deployment.
type Slice struct {
	// Name of the slice.
	Name string
	// Object is the slice; nil: none exists.
	Object *v1alpha.InstanceSlice
	// Binding is the ResourceBinding of the slice, or of an earlier one; nil: none exists.
	Binding *workv1alpha2.ResourceBinding
	// Works are the Works of the slice, by cell.
	Works map[string]*workv1alpha1.Work
}

// sliceDeployment is the field by which SliceIndex indexes.
const sliceDeployment = "deployment of the slice"

// SliceIndex indexes the InstanceSlices of the hub's cache, and the ResourceBindings of slices, by their deployment.
type SliceIndex struct{}

// AddTo adds the index to a cache. It is an error to add it twice.
func (SliceIndex) AddTo(ctx context.Context, indexer client.FieldIndexer) error {
	for _, object := range []client.Object{&v1alpha.InstanceSlice{}, &workv1alpha2.ResourceBinding{}} {
		if err := indexer.IndexField(ctx, object, sliceDeployment, deploymentOfSlice); err != nil {
			return fmt.Errorf("index %T by deployment: %w", object, err)
		}
	}
	return nil
}

// OfDeployment selects the InstanceSlices of a deployment, and the ResourceBindings of slices, in a cache with
// SliceIndex.
func OfDeployment(name string) client.MatchingFields {
	return client.MatchingFields{sliceDeployment: name}
}

// deploymentOfSlice returns the name of the deployment of a slice, or of the slice that a ResourceBinding binds.
func deploymentOfSlice(object client.Object) []string {
	name := object.GetName()
	if binding, ok := object.(*workv1alpha2.ResourceBinding); ok {
		if !isOf(binding, v1alpha.KindInstanceSlice) {
			return nil
		}
		name = binding.Spec.Resource.Name
	}
	if deployment, _, ok := naming.ParseSliceName(name); ok {
		return []string{deployment}
	}
	return nil
}

// LoadSlices reads the paths of the slices of a deployment, and the leftovers of earlier slices. The cost grows with
// the number of slices: do not call it for each change of an Instance. The hub's cache needs SliceIndex.
func (w *Row) LoadSlices(ctx context.Context, hub client.Reader, name types.NamespacedName) ([]Slice, error) {
	found := map[string]*Slice{}
	of := func(slice string) *Slice {
		if found[slice] == nil {
			found[slice] = &Slice{Name: slice, Works: map[string]*workv1alpha1.Work{}}
		}
		return found[slice]
	}
	var objects v1alpha.InstanceSliceList
	var bindings workv1alpha2.ResourceBindingList
	for _, list := range []client.ObjectList{&objects, &bindings} {
		if err := hub.List(ctx, list, client.InNamespace(name.Namespace), OfDeployment(name.Name), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list %T of the hub namespace: %w", list, err)
		}
	}
	for i := range objects.Items {
		of(objects.Items[i].Name).Object = &objects.Items[i]
	}
	for i := range bindings.Items {
		of(bindings.Items[i].Spec.Resource.Name).Binding = &bindings.Items[i]
	}
	var result []Slice
	for _, slice := range slices.Sorted(maps.Keys(found)) {
		if err := w.loadSliceWorks(ctx, hub, name.Namespace, found[slice]); err != nil {
			return nil, err
		}
		result = append(result, *found[slice])
	}
	return result, nil
}

// loadSliceWorks reads the Works of a slice in the cells of the deployment.
func (w *Row) loadSliceWorks(ctx context.Context, hub client.Reader, namespace string, slice *Slice) error {
	if w.Binding == nil {
		return nil
	}
	for _, cell := range w.targets() {
		work := &workv1alpha1.Work{}
		key := types.NamespacedName{
			Namespace: karmadanames.GenerateExecutionSpaceName(cell),
			Name:      karmadanames.GenerateWorkName(v1alpha.KindInstanceSlice, slice.Name, namespace),
		}
		if err := hub.Get(ctx, key, work); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get Work %s: %w", key, err)
		} else if err == nil {
			slice.Works[cell] = work
		}
	}
	return nil
}

// JudgeSlices returns the faults on the paths of slices, at most one of each slice. It returns none if Karmada is down,
// because the paths of slices depend on it.
func JudgeSlices(w *Row, all []Slice) []Finding {
	if w.Karmada.Down {
		return nil
	}
	var findings []Finding
	for i := range all {
		slice := &all[i]
		var fault *Finding
		switch {
		case slice.Object == nil:
			fault = slice.leftover()
		case w.Copied != nil && w.Copied.DeletionTimestamp.IsZero() && w.Binding != nil && slice.Object.DeletionTimestamp.IsZero():
			fault = w.slice(slice)
		}
		if fault != nil {
			fault.Slice = slice.Name
			findings = append(findings, *fault)
		}
	}
	return findings
}

// leftover judges the leftover objects of a slice that does not exist.
func (s *Slice) leftover() *Finding {
	if s.Binding == nil || !s.Binding.DeletionTimestamp.IsZero() {
		return nil
	}
	return found(CopyGone, DeleteBinding, s.Binding,
		fmt.Sprintf("InstanceSlice %s of the ResourceBinding no longer exists; the add-on deletes the ResourceBinding", s.Name))
}

// slice judges the path of a slice.
func (w *Row) slice(s *Slice) *Finding {
	if s.Binding == nil {
		return found(BindingMissing, RefreshBinding, w.Binding,
			fmt.Sprintf("Karmada has no ResourceBinding for InstanceSlice %s; retrying", s.Name))
	}
	if owner := controllerOf(s.Binding); owner != "" && owner != s.Object.UID {
		return found(BindingOwnerGone, DeleteBinding, s.Binding,
			fmt.Sprintf("the ResourceBinding belongs to an earlier InstanceSlice %s; the add-on deletes it so that Karmada creates another one",
				s.Name))
	}
	if !s.Binding.DeletionTimestamp.IsZero() {
		return found(BindingDeleting, RefreshBinding, s.Binding,
			fmt.Sprintf("Karmada is deleting the ResourceBinding of InstanceSlice %s and then creates another one",
				s.Name)).from(s.Binding.DeletionTimestamp.Time)
	}
	for _, cell := range w.targets() {
		if !w.Cells.Ready(cell) {
			continue
		}
		if fault := w.sliceInCell(s, cell); fault != nil {
			return fault.in(cell)
		}
	}
	return nil
}

// sliceInCell judges the path of a slice to a Ready cell, and back.
func (w *Row) sliceInCell(s *Slice, cell string) *Finding {
	work := s.Works[cell]
	if work == nil {
		return found(WorkMissing, RefreshBinding, s.Binding,
			fmt.Sprintf("Karmada has no Work of InstanceSlice %s for the cell; retrying", s.Name))
	}
	applied := meta.FindStatusCondition(work.Status.Conditions, workv1alpha1.WorkApplied)
	switch {
	case !work.DeletionTimestamp.IsZero():
		return found(WorkDeleting, ToggleWork, work, fmt.Sprintf("Karmada has not removed InstanceSlice %s from the cell; retrying", s.Name)).
			from(w.readySince(cell, *work.DeletionTimestamp))
	case applied == nil || applied.Status != metav1.ConditionTrue:
		return found(WorkNotApplied, ToggleWork, work, fmt.Sprintf("Karmada has not written InstanceSlice %s into the cell", s.Name))
	}
	reported, collected := workSliceDigest(work), ""
	for i := range s.Binding.Status.AggregatedStatus {
		if item := &s.Binding.Status.AggregatedStatus[i]; item.ClusterName == cell {
			collected = sliceDigest(item.Status)
		}
	}
	switch {
	case reported == "":
		return found(ReportMissing, ToggleWork, work, fmt.Sprintf("the cell does not report in InstanceSlice %s", s.Name))
	case reported != collected:
		return found(StatusOutdated, RefreshBinding, s.Binding,
			fmt.Sprintf("Karmada has not collected the cell's report in InstanceSlice %s", s.Name))
	}
	return nil
}

// sliceDigest returns a digest of the cell's report in a slice; "": no report.
func sliceDigest(status *runtime.RawExtension) string {
	read := &v1alpha.InstanceSliceStatus{}
	if status == nil || json.Unmarshal(status.Raw, read) != nil || read.ObservedGeneration == 0 {
		return ""
	}
	// The value was decoded from JSON, so it encodes.
	encoded, _ := json.Marshal(read)
	return hashOf(encoded)
}

// workSliceDigest returns the digest of the report that Karmada has collected into the Work of a slice, trimmed or not.
func workSliceDigest(work *workv1alpha1.Work) string {
	if len(work.Status.ManifestStatuses) == 0 || work.Status.ManifestStatuses[0].Status == nil {
		return ""
	}
	var digest string
	if json.Unmarshal(work.Status.ManifestStatuses[0].Status.Raw, &digest) == nil {
		return digest
	}
	return sliceDigest(work.Status.ManifestStatuses[0].Status)
}

// carriesSlice reports whether the manifest of a Work is an InstanceSlice.
func carriesSlice(work *workv1alpha1.Work) bool {
	if len(work.Spec.Workload.Manifests) != 1 {
		return false
	}
	raw, kind := work.Spec.Workload.Manifests[0].Raw, metav1.TypeMeta{}
	return bytes.Contains(raw, []byte(v1alpha.KindInstanceSlice)) && json.Unmarshal(raw, &kind) == nil &&
		kind.Kind == v1alpha.KindInstanceSlice && kind.APIVersion == v1alpha.GroupVersion.String()
}

// trimSliceWork keeps the fields that JudgeSlices reads in the Work of a slice, and a digest of the report.
func trimSliceWork(work, trimmed *workv1alpha1.Work) {
	trimmed.DeletionTimestamp = work.DeletionTimestamp
	trimmed.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{
		Raw: fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q}`, v1alpha.GroupVersion.String(), v1alpha.KindInstanceSlice),
	}}}
	for _, condition := range work.Status.Conditions {
		if condition.Type == workv1alpha1.WorkApplied {
			condition.Message = ""
			trimmed.Status.Conditions = []metav1.Condition{condition}
		}
	}
	if digest := workSliceDigest(work); digest != "" {
		trimmed.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: fmt.Appendf(nil, "%q", digest)}}}
	}
}
