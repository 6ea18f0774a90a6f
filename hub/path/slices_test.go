// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"fmt"
	"slices"
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// sliceStatus returns the report of a cell in a slice with one Instance.
func sliceStatus(index int) string {
	return fmt.Sprintf(`{"observedGeneration":1,"cell":"","states":[{"templateHash":"h"}],"instances":[{"index":%d,"state":0}]}`, index)
}

// newSlice returns a faultless slice of a Row, as in the cache.
func newSlice(t *testing.T, w *Row) *Row {
	t.Helper()
	slice := w.sliceRow("web-16")
	object := &v1alpha.InstanceSlice{}
	object.Namespace, object.Name, object.UID = hubNamespace, "web-16", "slice"
	slice.Slice.Object = object
	kind := v1alpha.GroupVersion.WithKind(v1alpha.KindInstanceSlice)
	binding := &workv1alpha2.ResourceBinding{}
	binding.Namespace = hubNamespace
	binding.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(object, kind)}
	binding.Spec.Resource = workv1alpha2.ObjectReference{APIVersion: v1alpha.GroupVersion.String(), Kind: kind.Kind, Name: "web-16"}
	for index, cell := range []string{"a", "b"} {
		work := &workv1alpha1.Work{}
		work.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: *raw(`{"apiVersion":"compute.datumapis.com/v1alpha",` +
			`"kind":"InstanceSlice","metadata":{"namespace":"` + hubNamespace + `","name":"web-16","annotations":{"resourcetemplate.karmada.io/uid":"slice"}}}`)}}
		work.Status.Conditions = []metav1.Condition{{Type: workv1alpha1.WorkApplied, Status: metav1.ConditionTrue, Message: "long"}}
		work.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: raw(sliceStatus(index))}}
		slice.Works[cell] = trimmed(t, work)
	}
	kept, err := TrimBinding(binding)
	if err != nil {
		t.Fatal(err)
	}
	slice.Binding, _ = kept.(*workv1alpha2.ResourceBinding)
	return slice
}

func TestJudgeSlices(t *testing.T) {
	now := metav1.Now()
	tests := map[string]struct {
		change     func(w, s *Row)
		wantFault  Fault
		wantCell   string
		wantRepair Repair
	}{
		"in order":                  {change: func(*Row, *Row) {}},
		"a cell is lost":            {change: func(w, s *Row) { w.Cells[0].Ready = false; delete(s.Works, "a") }},
		"Karmada is down":           {change: func(w, s *Row) { w.Karmada = Karmada{Down: true}; s.Binding = nil }},
		"no binding":                {func(_, s *Row) { s.Binding = nil }, BindingMissing, "", RefreshBinding},
		"the binding of an earlier": {func(_, s *Row) { s.Slice.Object.UID = "another" }, BindingOwnerGone, "", DeleteBinding},
		"a binding that goes":       {func(_, s *Row) { s.Binding.DeletionTimestamp = &now }, BindingDeleting, "", RefreshBinding},
		"what is left of one":       {func(_, s *Row) { s.Slice.Object = nil }, CopyGone, "", DeleteBinding},
		"what is left and goes": {
			func(_, s *Row) { s.Slice.Object, s.Binding.DeletionTimestamp = nil, &now }, BindingDeleting, "", RefreshBinding,
		},
		"one that goes": {change: func(_, s *Row) { s.Slice.Object.DeletionTimestamp = &now }},
		"a Work that stays with one that goes": {func(_, s *Row) {
			s.Slice.Object.DeletionTimestamp, s.Works["a"].DeletionTimestamp = &now, &now
		}, WorkDeleting, "a", ToggleWork},
		"left of a deployment":       {func(w, s *Row) { w.Copied, s.Slice.Object = nil, nil }, CopyGone, "", DeleteBinding},
		"no Work":                    {func(_, s *Row) { delete(s.Works, "b") }, WorkMissing, "b", RefreshBinding},
		"a Work that should be gone": {func(_, s *Row) { s.Works["a"].DeletionTimestamp = &now }, WorkDeleting, "a", ToggleWork},
		"a Work that is not applied": {func(_, s *Row) { s.Works["a"].Status.Conditions = nil }, WorkNotApplied, "a", ToggleWork},
		"no report":                  {func(_, s *Row) { s.Works["a"].Status.ManifestStatuses = nil }, ReportMissing, "a", ToggleWork},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newRow(t)
			slice := newSlice(t, w)
			test.change(w, slice)
			slice.Subject, slice.Cells = w.Subject, w.Cells
			got := Judge(slice)
			if test.wantFault == "" {
				if len(got) > 0 {
					t.Errorf("got %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Fault != test.wantFault || got[0].Cell != test.wantCell ||
				got[0].Repair != test.wantRepair || got[0].Slice != "web-16" || got[0].Object == nil {
				t.Errorf("got %+v, want %s of cell %q", got, test.wantFault, test.wantCell)
			}
		})
	}
}

// TestTrimWorkOfSlice: the cache keeps the report and the slice that it is about, and TrimWork leaves what it has trimmed.
func TestTrimWorkOfSlice(t *testing.T) {
	work := newSlice(t, newRow(t)).Works["a"]
	for _, kept := range []*workv1alpha1.Work{work, trimmed(t, work)} {
		if report, ok := sliceReport("a", kept); !ok || report.Cell != "a" || len(report.Instances) != 1 || sliceUIDOf(kept) != "slice" {
			t.Errorf("the report is %+v, of slice %s", report, sliceUIDOf(kept))
		}
		if _, ours := SourceOf(kept); ours || kept.Status.Conditions[0].Message != "" {
			t.Errorf("kept %+v", kept)
		}
	}
}

func TestSliceReportChanged(t *testing.T) {
	before := newSlice(t, newRow(t)).Works["a"]
	for name, test := range map[string]struct {
		change func(*workv1alpha1.Work)
		want   bool
	}{
		"nothing":             {func(*workv1alpha1.Work) {}, false},
		"that it was applied": {func(w *workv1alpha1.Work) { w.Status.Conditions = nil }, false},
		"the report":          {func(w *workv1alpha1.Work) { w.Status.ManifestStatuses[0].Status = raw(sliceStatus(7)) }, true},
		"no report":           {func(w *workv1alpha1.Work) { w.Status.ManifestStatuses = nil }, true},
		"another slice":       {func(w *workv1alpha1.Work) { w.Spec.Workload.Manifests = nil }, true},
	} {
		after := before.DeepCopy()
		test.change(after)
		if got := SliceReportChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestSliceIndex: the index has only slices and the bindings of slices, by their deployment.
func TestSliceIndex(t *testing.T) {
	binding := func(kind, name string) *workv1alpha2.ResourceBinding {
		b := &workv1alpha2.ResourceBinding{}
		b.Spec.Resource = workv1alpha2.ObjectReference{APIVersion: v1alpha.GroupVersion.String(), Kind: kind, Name: name}
		return b
	}
	slice := &v1alpha.InstanceSlice{ObjectMeta: metav1.ObjectMeta{Name: "web-16"}}
	for name, test := range map[string]struct {
		object client.Object
		want   []string
	}{
		"a slice":                      {slice, []string{"web"}},
		"the binding of a slice":       {binding(v1alpha.KindInstanceSlice, "web-16"), []string{"web"}},
		"the binding of a deployment":  {binding(v1alpha.KindWorkloadDeployment, "web-16"), nil},
		"a slice with a foreign name":  {&v1alpha.InstanceSlice{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, nil},
		"the binding of a foreign one": {binding(v1alpha.KindInstanceSlice, "web"), nil},
	} {
		if got := deploymentOfSlice(test.object); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
