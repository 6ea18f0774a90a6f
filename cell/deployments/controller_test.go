// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestPlanChanged: of the updates of a starting Instance, only the one that turns it Ready triggers a reconcile of its
// deployment.
func TestPlanChanged(t *testing.T) {
	if planChanged().Create(event.CreateEvent{Object: &v1alpha.Instance{}}) ||
		!planChanged().Delete(event.DeleteEvent{Object: &v1alpha.Instance{}}) {
		t.Error("not the deletion of an Instance alone, but its creation, brings a reconcile")
	}
	for name, test := range map[string]struct {
		change func(*v1alpha.Instance)
		want   bool
	}{
		"nothing":             {func(*v1alpha.Instance) {}, false},
		"it is not Ready yet": {func(i *v1alpha.Instance) { i.Status.Conditions[0].Reason = "Starting" }, false},
		"its address": {func(i *v1alpha.Instance) {
			i.Status.NetworkInterfaces = make([]v1alpha.InstanceNetworkInterfaceStatus, 1)
		}, false},
		"its status is of the template before": {func(i *v1alpha.Instance) {
			i.Status.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: "earlier"}
			i.Status.Conditions[0].ObservedGeneration = i.Generation + 1
		}, true},
		"it is Ready":           {func(i *v1alpha.Instance) { i.Status.Conditions[0].Status = metav1.ConditionTrue }, true},
		"its spec":              {func(i *v1alpha.Instance) { i.Generation++ }, true},
		"its deletion began":    {func(i *v1alpha.Instance) { now := metav1.Now(); i.DeletionTimestamp = &now }, true},
		"its labels":            {func(i *v1alpha.Instance) { i.Labels = map[string]string{"a": "b"} }, true},
		"it was adopted":        {func(i *v1alpha.Instance) { i.OwnerReferences = []metav1.OwnerReference{{UID: "b"}} }, true},
		"it is another by name": {func(i *v1alpha.Instance) { i.UID = "b" }, true},
	} {
		before := &v1alpha.Instance{
			ObjectMeta: metav1.ObjectMeta{UID: "a", OwnerReferences: []metav1.OwnerReference{{UID: "a"}}},
			Status:     v1alpha.InstanceStatus{Conditions: []metav1.Condition{{Type: v1alpha.ConditionReady, Status: metav1.ConditionFalse}}},
		}
		after := before.DeepCopy()
		test.change(after)
		if got := planChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
