// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"context"
	"fmt"
	"maps"
	"slices"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
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
	find := func(slice string) *Row {
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
		find(objects.Items[i].Name).Slice.Object = &objects.Items[i]
	}
	for i := range bindings.Items {
		find(bindings.Items[i].Spec.Resource.Name).Binding = &bindings.Items[i]
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
		key := sliceWork(cell, types.NamespacedName{Namespace: namespace, Name: w.Slice.Name})
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
	row := s.Deployment
	deployed := row.Copied != nil && row.Copied.DeletionTimestamp.IsZero() && row.Binding != nil
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

// sliceWork is the name of Karmada's Work of a slice for a cell.
func sliceWork(cell string, slice types.NamespacedName) types.NamespacedName {
	return types.NamespacedName{
		Namespace: karmadanames.GenerateExecutionSpaceName(cell),
		Name:      karmadanames.GenerateWorkName(v1alpha.KindInstanceSlice, slice.Name, slice.Namespace),
	}
}

// sliceReport returns the report of a cell in the Work of a slice; false: its agent has not written any.
func sliceReport(cell string, work *workv1alpha1.Work) (v1alpha.InstanceReport, bool) {
	if len(work.Status.ManifestStatuses) == 0 || work.Status.ManifestStatuses[0].Status == nil {
		return v1alpha.InstanceReport{}, false
	}
	return wire.DecodeSlice(cell, work.Status.ManifestStatuses[0].Status.Raw)
}

// sliceOf returns the manifest of the Work of a slice, trimmed or not.
func sliceOf(work *workv1alpha1.Work) (manifest, bool) {
	return manifestOfKind(work, v1alpha.KindInstanceSlice)
}

// sliceUIDOf returns the UID of the slice that a Work carries, or "" without one.
func sliceUIDOf(work *workv1alpha1.Work) types.UID {
	m, ours := sliceOf(work)
	if !ours {
		return ""
	}
	return types.UID(m.Metadata.Annotations.TemplateUID)
}

// OfSliceWork requests the slice that a Work carries, by its name in the namespace of the project. It requests nothing if
// the Work carries another kind.
func OfSliceWork(hub client.Reader) func(context.Context, client.Object) []mcreconcile.Request {
	return func(ctx context.Context, changed client.Object) []mcreconcile.Request {
		work, ok := changed.(*workv1alpha1.Work)
		if !ok {
			return nil
		}
		m, ours := sliceOf(work)
		if !ours {
			return nil
		}
		return requestCopied(ctx, hub, types.NamespacedName{Namespace: m.Metadata.Namespace, Name: m.Metadata.Name})
	}
}

// SliceReportChanged drops updates of Works that change neither the report of the cell nor the slice that it is about.
func SliceReportChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isWork := e.ObjectOld.(*workv1alpha1.Work)
		after, stillIs := e.ObjectNew.(*workv1alpha1.Work)
		return isWork && stillIs && (!sameStatuses(before, after) || sliceUIDOf(before) != sliceUIDOf(after))
	}}
}

// trimSliceWork keeps the fields that Judge reads in the Work of a slice, and the report.
func trimSliceWork(work, trimmed *workv1alpha1.Work, m *manifest) {
	trimmed.DeletionTimestamp = work.DeletionTimestamp
	trimManifest(trimmed, m)
	for _, condition := range work.Status.Conditions {
		if condition.Type == workv1alpha1.WorkApplied {
			condition.Message = ""
			trimmed.Status.Conditions = []metav1.Condition{condition}
		}
	}
	if len(work.Status.ManifestStatuses) == 0 || work.Status.ManifestStatuses[0].Status == nil {
		return
	}
	if status := work.Status.ManifestStatuses[0].Status; len(status.Raw) <= maxReport {
		trimmed.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: status}}
	}
}
