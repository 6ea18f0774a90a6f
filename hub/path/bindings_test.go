// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"testing"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestRefusal(t *testing.T) {
	binding := newBinding()
	for status, want := range map[metav1.ConditionStatus]string{metav1.ConditionTrue: "", metav1.ConditionFalse: "why"} {
		binding.Status.Conditions = []metav1.Condition{{Type: workv1alpha2.Scheduled, Status: status, Message: "why"}}
		if got := Refusal(binding); got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
	if got := Refusal(nil); got != "" {
		t.Errorf("no binding: %q", got)
	}
	if got := Refusal(newBinding()); got != "" {
		t.Errorf("before Karmada has tried: %q", got)
	}
}

func TestPredicates(t *testing.T) {
	tests := map[string]struct {
		change                    func(*workv1alpha2.ResourceBinding)
		wantRefusal, wantDivision bool
	}{
		"nothing": {func(*workv1alpha2.ResourceBinding) {}, false, false},
		"a refusal": {func(b *workv1alpha2.ResourceBinding) {
			b.Status.Conditions = []metav1.Condition{{Type: workv1alpha2.Scheduled, Status: metav1.ConditionFalse, Message: "why"}}
		}, true, false},
		"that it is scheduled": {func(b *workv1alpha2.ResourceBinding) {
			b.Status.Conditions = []metav1.Condition{{Type: workv1alpha2.Scheduled, Status: metav1.ConditionTrue, Message: "done"}}
		}, false, false},
		"another binding of the name": {func(b *workv1alpha2.ResourceBinding) { b.UID = "another" }, true, true},
		"other replicas":              {func(b *workv1alpha2.ResourceBinding) { b.Spec.Clusters[0].Replicas = 2 }, false, true},
		"what a cell reports": {
			func(b *workv1alpha2.ResourceBinding) {
				b.Status.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{{ClusterName: "a"}}
			}, false, false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			update := event.UpdateEvent{ObjectOld: newBinding("a"), ObjectNew: newBinding("a")}
			after := newBinding("a")
			test.change(after)
			update.ObjectNew = after
			if got := RefusalChanged().Update(update); got != test.wantRefusal {
				t.Errorf("RefusalChanged: %t", got)
			}
			if got := DivisionChanged().Update(update); got != test.wantDivision {
				t.Errorf("DivisionChanged: %t", got)
			}
		})
	}
	if DivisionChanged().Delete(event.DeleteEvent{Object: newBinding("a")}) ||
		!DivisionChanged().Create(event.CreateEvent{Object: newBinding("a")}) {
		t.Error("a binding that is there counts, one that is gone does not")
	}
	other := event.UpdateEvent{ObjectOld: &v1alpha.Workload{}, ObjectNew: &v1alpha.Workload{}}
	if DivisionChanged().Update(other) {
		t.Error("an object of another kind changes no division")
	}
}

// TestWorksOfOthers: a Work that Karmada did not make, with the name and content of a deployment's, is no Work of its row.
func TestWorksOfOthers(t *testing.T) {
	copied := &v1alpha.WorkloadDeployment{}
	copied.Namespace, copied.Name = hubNamespace, "web"
	name := types.NamespacedName{Namespace: copied.Namespace, Name: copied.Name}
	work := planes.WorkOf(t, copied, "a")
	if !isOfBinding(trimmed(t, work), name) {
		t.Error("Karmada's Work is not the deployment's")
	}
	work.Annotations = nil
	if isOfBinding(trimmed(t, work), name) {
		t.Error("the Work of an agent is the deployment's")
	}
}
