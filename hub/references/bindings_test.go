// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"testing"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// bindingOf returns Karmada's binding of a ConfigMap, as in the cache.
func bindingOf(t *testing.T, namespace, version string) *workv1alpha2.ResourceBinding {
	t.Helper()
	binding := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app-configmap"}}
	binding.Spec.Resource = workv1alpha2.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "app", ResourceVersion: version}
	trimmed, err := path.TrimBinding(binding)
	if err != nil {
		t.Fatal(err)
	}
	return trimmed.(*workv1alpha2.ResourceBinding)
}

// TestCopyChanged verifies that another version of a copy, or its deletion, requeues the namespace of the project, by
// the binding that Karmada keeps of it, and that no other event does.
func TestCopyChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before, edited, ending := bindingOf(t, f.HubNamespace, "1"), bindingOf(t, f.HubNamespace, "2"), bindingOf(t, f.HubNamespace, "1")
	now := metav1.Now()
	ending.DeletionTimestamp = &now
	filter := copyChanged()
	if !filter.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: edited}) ||
		!filter.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: ending}) ||
		!filter.Delete(event.DeleteEvent{Object: before}) {
		t.Error("a copy that was edited or deleted is not reconciled")
	}
	same := before.DeepCopy()
	same.ResourceVersion = "another one, because its status has changed"
	if filter.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: same}) || filter.Create(event.CreateEvent{Object: before}) {
		t.Error("it is reconciled although the copy is the same")
	}
	foreign := bindingOf(t, "karmada-system", "1")
	deployment := planes.BindingOf(f.Deployment("web", "DFW"))
	deployment.Namespace = f.HubNamespace
	if filter.Delete(event.DeleteEvent{Object: foreign}) || filter.Delete(event.DeleteEvent{Object: deployment}) {
		t.Error("bindings of others count")
	}
	if got := f.reconciler.ofBinding(t.Context(), before); len(got) != 1 || got[0] != request(planes.ProjectName, f.Namespace.Name) {
		t.Errorf("it requeues %v", got)
	}
	if got := f.reconciler.ofBinding(t.Context(), foreign); len(got) > 0 {
		t.Errorf("that of others requeues %v", got)
	}
}
