// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"encoding/json"
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/native/prune"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestTheNamespaceOfACellIsRestored: Pod security and the label of the hub return when another writer replaces what the
// Work of a namespace carries. Karmada's own additions to the manifest stay, and cost no write, and nor does what it removes.
func TestTheNamespaceOfACellIsRestored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	carry := func(change func(*corev1.Namespace)) {
		t.Helper()
		planes.Change(t, f.Planes, f.work(), func(work *workv1alpha1.Work) {
			carried := carriedNamespace(t, work)
			change(carried)
			raw, err := json.Marshal(carried)
			if err != nil {
				t.Fatal(err)
			}
			work.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}
		})
	}
	carry(func(namespace *corev1.Namespace) { namespace.Annotations["work.karmada.io/added"] = "by Karmada" })
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("what Karmada adds is written over: %v", writes)
	}
	planes.Change(t, f.Planes, f.work(), func(work *workv1alpha1.Work) {
		manifest := &work.Spec.Workload.Manifests[0]
		stored := &unstructured.Unstructured{}
		if err := json.Unmarshal(manifest.Raw, stored); err != nil {
			t.Fatal(err)
		}
		// Karmada's webhook does this to every Work.
		if err := prune.RemoveIrrelevantFields(stored); err != nil {
			t.Fatal(err)
		}
		raw, err := stored.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		manifest.Raw = raw
	})
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("what Karmada removes is written again: %v", writes)
	}
	for name, change := range map[string]func(*corev1.Namespace){
		"without labels":        func(namespace *corev1.Namespace) { namespace.Labels = nil },
		"with another standard": func(namespace *corev1.Namespace) { namespace.Labels[projects.LabelPodSecurity] = "privileged" },
		"of another name":       func(namespace *corev1.Namespace) { namespace.ObjectMeta = metav1.ObjectMeta{Name: "another"} },
	} {
		carry(change)
		f.mustReconcile(t, "web")
		restored := carriedNamespace(t, read(t, f, f.work()))
		if restored.Name != f.HubNamespace || restored.Labels[projects.LabelPodSecurity] != projects.PodSecurity ||
			restored.Labels[v1alpha.LabelHub] == "" {
			t.Errorf("%s: the Work carries %+v", name, restored.ObjectMeta)
		}
	}
}

func carriedNamespace(t *testing.T, work *workv1alpha1.Work) *corev1.Namespace {
	t.Helper()
	if len(work.Spec.Workload.Manifests) != 1 {
		t.Fatalf("the Work carries %d manifests", len(work.Spec.Workload.Manifests))
	}
	carried := &corev1.Namespace{}
	if err := json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, carried); err != nil {
		t.Fatal(err)
	}
	return carried
}
