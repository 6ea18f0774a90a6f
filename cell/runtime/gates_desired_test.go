// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func TestQuotaGranted(t *testing.T) {
	one := naming.Ranges([]int{1})
	withheld := []v1alpha.QuotaWithheld{{Reason: v1alpha.ReasonQuotaExceeded, Message: "nothing is left", Indices: one}}
	tests := map[string]struct {
		quota       *v1alpha.WorkloadDeploymentQuota
		wantStatus  metav1.ConditionStatus
		wantReason  string
		wantMessage string
	}{
		"no quota": {nil, metav1.ConditionTrue, v1alpha.ReasonQuotaDisabled, "no quota is configured"},
		"a quota without grants": {
			&v1alpha.WorkloadDeploymentQuota{}, metav1.ConditionFalse, v1alpha.ReasonPendingEvaluation,
			"waiting for the quota of the project to be granted to Instance web-1",
		},
		"a grant to another": {
			&v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{10})}, metav1.ConditionFalse,
			v1alpha.ReasonPendingEvaluation, "waiting for the quota of the project to be granted to Instance web-1",
		},
		"a grant to the Instance": {
			&v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{0, 1})}, metav1.ConditionTrue,
			v1alpha.ReasonQuotaAvailable, "the quota of the project is granted",
		},
		"a grant for a smaller one": {
			&v1alpha.WorkloadDeploymentQuota{Granted: one, InstanceSize: &v1alpha.QuotaSize{}}, metav1.ConditionFalse,
			v1alpha.ReasonPendingEvaluation, "waiting for the quota of the project to be granted to Instance web-1",
		},
		"it is withheld": {
			&v1alpha.WorkloadDeploymentQuota{Withheld: withheld}, metav1.ConditionFalse, v1alpha.ReasonQuotaExceeded, "nothing is left",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			deployment := &v1alpha.WorkloadDeployment{
				ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha.WorkloadDeploymentSpec{Quota: test.quota},
			}
			instance := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}}
			instance.Spec.Runtime.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			got := quotaGranted(deployment, instance)
			if got.Type != v1alpha.ConditionQuotaGranted || got.Status != test.wantStatus || got.Reason != test.wantReason ||
				got.Message != test.wantMessage {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestLeft(t *testing.T) {
	quota, network := v1alpha.SchedulingGate{Name: v1alpha.GateQuota}, v1alpha.SchedulingGate{Name: v1alpha.GateNetwork}
	tests := map[string]struct {
		gates    []v1alpha.SchedulingGate
		want     []v1alpha.SchedulingGate
		wantHeld bool
	}{
		"no gates":       {nil, nil, false},
		"another gate":   {[]v1alpha.SchedulingGate{network}, []v1alpha.SchedulingGate{network}, false},
		"the only gate":  {[]v1alpha.SchedulingGate{quota}, []v1alpha.SchedulingGate{}, true},
		"one of several": {[]v1alpha.SchedulingGate{network, quota}, []v1alpha.SchedulingGate{network}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.gates)
			instance := &v1alpha.Instance{Spec: v1alpha.InstanceSpec{Controller: &v1alpha.InstanceController{SchedulingGates: test.gates}}}
			waiting := &v1alpha.WorkloadDeployment{Spec: v1alpha.WorkloadDeploymentSpec{Networks: &v1alpha.WorkloadDeploymentNetworks{}}}
			got, held := gatesLeft(waiting, instance, []metav1.Condition{{Type: v1alpha.ConditionQuotaGranted, Status: metav1.ConditionTrue}})
			if !slices.Equal(got, test.want) || held != test.wantHeld {
				t.Errorf("got %v, %t", got, held)
			}
			if !slices.Equal(before, test.gates) {
				t.Error("the gates that were given were changed")
			}
		})
	}
}

func TestDataReady(t *testing.T) {
	if got := dataReady(nil); got.Status != metav1.ConditionTrue || got.Reason != "Ready" {
		t.Errorf("got %+v", got)
	}
	var missing []templates.DataObject
	for i := range 7 {
		missing = append(missing, templates.DataObject{Kind: "Secret", Name: fmt.Sprint(i)})
	}
	want := "not in the cell: Secret 0, Secret 1, Secret 2, Secret 3, Secret 4, 2 more"
	if got := dataReady(missing); got.Status != metav1.ConditionFalse ||
		got.Reason != v1alpha.ReasonAwaitingPropagation || got.Message != want {
		t.Errorf("got %+v", got)
	}
}
