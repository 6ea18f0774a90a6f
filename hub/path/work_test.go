// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"encoding/json"
	"strings"
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// fullWork returns a Work as Karmada writes it, with a report of a hundred Instances.
func fullWork(t testing.TB) *workv1alpha1.Work {
	t.Helper()
	copied := &v1alpha.WorkloadDeployment{}
	copied.Namespace, copied.Name, copied.UID, copied.Generation = hubNamespace, "web", "copy", 7
	copied.Labels = map[string]string{v1alpha.LabelWorkloadUID: "workload", v1alpha.LabelProjectNamespace: "default"}
	copied.Annotations = map[string]string{v1alpha.AnnotationProjectName: "north"}
	copied.Spec.Template = planes.Template("registry.example/app:1")
	work := planes.WorkOf(t, copied, "a")
	work.Labels = map[string]string{"resourcebinding.karmada.io/permanent-id": "id"}
	work.Status.Conditions = []metav1.Condition{
		{Type: workv1alpha1.WorkApplied, Status: metav1.ConditionFalse, Message: strings.Repeat("long ", 1000)}, {Type: "Dispatching"},
	}
	var instances []wire.Instance
	for i := range 100 {
		instances = append(instances, wire.Instance{Name: naming.InstanceName("web", i)})
	}
	inCell := &v1alpha.WorkloadDeployment{ObjectMeta: copied.ObjectMeta, Spec: copied.Spec}
	planes.SetReport(t, inCell, "", instances...)
	inCell.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: 100, ReadyReplicas: 99}
	work.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: planes.Report(t, copied, &inCell.Status)}}
	return work
}

func TestTrimWork(t *testing.T) {
	full := fullWork(t)
	got := trimmed(t, full)
	if source, ours := SourceOf(got); !ours || source != (Source{
		Project: "north", Original: types.NamespacedName{Namespace: "default", Name: "web"},
		Copy: types.NamespacedName{Namespace: hubNamespace, Name: "web"},
	}) {
		t.Errorf("the source is %+v", source)
	}
	m, _ := manifestOf(got)
	if m.templateGeneration() != 7 || m.Metadata.Annotations.TemplateUID != "copy" || m.Metadata.Labels.WorkloadUID != "workload" {
		t.Errorf("the manifest is %+v", m)
	}
	if r := report(got); r == nil || r.ReadyReplicas != 99 || len(r.Indices) != 1 || len(got.Status.Conditions) != 1 {
		t.Errorf("the status is %+v", got.Status)
	}
	if len(full.Status.Conditions) != 2 || !strings.Contains(string(full.Status.ManifestStatuses[0].Status.Raw), `"reports"`) {
		t.Error("the original was changed")
	}
	// A Work that TrimWork has trimmed already passes through it unchanged.
	again := trimmed(t, got)
	before, _ := json.Marshal(got)
	after, _ := json.Marshal(again)
	if string(before) != string(after) {
		t.Errorf("trimmed again it is %s", after)
	}
}

func TestTrimWorkOfOthers(t *testing.T) {
	full := fullWork(t)
	full.Spec.Workload.Manifests[0].Raw = []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"WorkloadDeployment"}}`)
	got := trimmed(t, full)
	if got.Name != full.Name || len(got.Spec.Workload.Manifests) > 0 || len(got.Status.Conditions) > 0 || got.Annotations != nil {
		t.Errorf("kept %+v", got)
	}
	if _, ours := SourceOf(got); ours {
		t.Error("it has a source")
	}
	for label, value := range map[string]string{v1alpha.LabelHubNamespace: hubNamespace, v1alpha.LabelInventory: v1alpha.InventoryCell} {
		own := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{label: value, "other": "label"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "a"}},
		}}
		if got := trimmed(t, own); len(got.Labels) != 2 || got.ManagedFields != nil {
			t.Errorf("of a Work with label %s: %+v", label, got)
		}
	}
	if got, err := TrimWork("other"); err != nil || got != "other" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestWorkChange(t *testing.T) {
	now := metav1.Now()
	for name, test := range map[string]struct {
		change func(*workv1alpha1.Work)
		want   change
	}{
		"nothing":              {func(w *workv1alpha1.Work) { w.ResourceVersion = "2" }, nothing},
		"that it was applied":  {func(w *workv1alpha1.Work) { w.Status.Conditions[0].Status = metav1.ConditionTrue }, proceeded},
		"why it was not":       {func(w *workv1alpha1.Work) { w.Status.Conditions[0].Message = "other" }, nothing},
		"its deletion":         {func(w *workv1alpha1.Work) { w.DeletionTimestamp = &now }, changed},
		"a Work of this name":  {func(w *workv1alpha1.Work) { w.UID = "other" }, changed},
		"the report":           {func(w *workv1alpha1.Work) { w.Status.ManifestStatuses[0].Status = raw(`{"generation":1}`) }, changed},
		"the first report":     {func(w *workv1alpha1.Work) { w.Status.ManifestStatuses = nil }, changed},
		"what is to be run":    {func(w *workv1alpha1.Work) { w.Spec.Workload.Manifests[0].Raw = []byte(`{}`) }, reported},
		"an unreadable report": {func(w *workv1alpha1.Work) { w.Status.ManifestStatuses[0].Status = nil }, changed},
	} {
		before, after := trimmed(t, fullWork(t)), trimmed(t, fullWork(t))
		test.change(after)
		if got := workChange(before, after); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	before, after := trimmed(t, fullWork(t)), trimmed(t, fullWork(t))
	before.Status.Conditions[0].Status = metav1.ConditionTrue
	if got := workChange(before, after); got != changed {
		t.Errorf("a Work that is not applied any more: %d, want %d", got, changed)
	}
}

func TestBindingChange(t *testing.T) {
	now := metav1.Now()
	for name, test := range map[string]struct {
		change func(*Row)
		want   change
	}{
		"nothing":      {func(w *Row) { w.Binding.ResourceVersion = "2" }, nothing},
		"its owner":    {func(w *Row) { w.Binding.OwnerReferences[0].UID = "other" }, changed},
		"no owner":     {func(w *Row) { w.Binding.OwnerReferences = nil }, changed},
		"its resource": {func(w *Row) { w.Binding.Spec.Resource.UID = "other" }, changed},
		"its deletion": {func(w *Row) { w.Binding.DeletionTimestamp = &now }, changed},
		"its cells":    {func(w *Row) { w.Binding.Spec.Clusters[0].Replicas = 1 }, reported},
	} {
		before, after := newRow(t), newRow(t)
		test.change(after)
		if got := bindingChange(before.Binding, after.Binding); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// BenchmarkTrimWork reports the memory of a Work in a cache, beside the time.
func BenchmarkTrimWork(b *testing.B) {
	full := fullWork(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := TrimWork(full); err != nil {
			b.Fatal(err)
		}
	}
}
