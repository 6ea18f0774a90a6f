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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Slice is an InstanceSlice of a deployment.
type Slice struct {
	// Name of the slice.
	Name string
	// Object is the slice; nil: none exists.
	Object *v1alpha.InstanceSlice
	// Deployment is the Row of its deployment.
	Deployment *Row
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
func (w *Row) LoadSlices(ctx context.Context, hub client.Reader, name types.NamespacedName) ([]*Row, error) {
	found := map[string]*Row{}
	of := func(slice string) *Row {
		if found[slice] == nil {
			found[slice] = w.sliceRow(slice)
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
		of(objects.Items[i].Name).Slice.Object = &objects.Items[i]
	}
	for i := range bindings.Items {
		of(bindings.Items[i].Spec.Resource.Name).Binding = &bindings.Items[i]
	}
	var rows []*Row
	for _, slice := range slices.Sorted(maps.Keys(found)) {
		if err := found[slice].loadSliceWorks(ctx, hub, name.Namespace); err != nil {
			return nil, err
		}
		rows = append(rows, found[slice])
	}
	return rows, nil
}

// sliceRow returns the Row of a slice of the deployment, without its objects.
func (w *Row) sliceRow(name string) *Row {
	return &Row{
		Subject: w.Subject, Cells: w.Cells, Works: map[string]*workv1alpha1.Work{}, Slice: &Slice{Name: name, Deployment: w},
	}
}

// loadSliceWorks reads the Works of a slice in the cells of the deployment.
func (w *Row) loadSliceWorks(ctx context.Context, hub client.Reader, namespace string) error {
	if w.Slice.Deployment.Binding == nil {
		return nil
	}
	for _, cell := range (slice{w}).targets() {
		work := &workv1alpha1.Work{}
		key := types.NamespacedName{
			Namespace: karmadanames.GenerateExecutionSpaceName(cell),
			Name:      karmadanames.GenerateWorkName(v1alpha.KindInstanceSlice, w.Slice.Name, namespace),
		}
		if err := hub.Get(ctx, key, work); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get Work %s: %w", key, err)
		} else if err == nil {
			w.Works[cell] = work
		}
	}
	return nil
}

// judge returns the faults on the path of a slice. It returns none if Karmada is down, because the deployment's own
// path shows that.
func (s *Slice) judge(w *Row) []Finding {
	of := s.Deployment
	deployed := of.Copied != nil && of.Copied.DeletionTimestamp.IsZero() && of.Binding != nil
	var findings []Finding
	switch {
	case w.Karmada.Down:
	case s.Object == nil || !s.Object.DeletionTimestamp.IsZero() || !deployed:
		findings = w.leftovers(slice{w})
	default:
		if findings = appendFound(nil, w.binding(slice{w})); len(findings) == 0 {
			findings = w.cells(slice{w})
		}
	}
	for i := range findings {
		findings[i].Slice = s.Name
	}
	return findings
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

// trimSliceWork keeps the fields that Judge reads in the Work of a slice, and a digest of the report.
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
