// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestQuotaGranted(t *testing.T) {
	tests := map[string]struct {
		quota      *v1alpha.WorkloadDeploymentQuota
		wantStatus metav1.ConditionStatus
		wantReason string
	}{
		"no quota":                {nil, metav1.ConditionTrue, v1alpha.ReasonQuotaDisabled},
		"a quota without grants":  {&v1alpha.WorkloadDeploymentQuota{}, metav1.ConditionFalse, v1alpha.ReasonPendingEvaluation},
		"a grant to another":      {&v1alpha.WorkloadDeploymentQuota{GrantedInstances: []string{"web-10"}}, metav1.ConditionFalse, v1alpha.ReasonPendingEvaluation},
		"a grant to the Instance": {&v1alpha.WorkloadDeploymentQuota{GrantedInstances: []string{"web-0", "web-1"}}, metav1.ConditionTrue, v1alpha.ReasonQuotaAvailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := quotaGranted(test.quota, "web-1")
			if got.Type != v1alpha.ConditionQuotaGranted || got.Status != test.wantStatus || got.Reason != test.wantReason || got.Message == "" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestWithoutGate(t *testing.T) {
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
			got, held := withoutGate(test.gates, v1alpha.GateQuota)
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
	var missing []v1alpha.DataObject
	for i := range 7 {
		missing = append(missing, v1alpha.DataObject{Kind: "Secret", Name: fmt.Sprint(i)})
	}
	want := "not in the cell: Secret 0, Secret 1, Secret 2, Secret 3, Secret 4, 2 more"
	if got := dataReady(missing); got.Status != metav1.ConditionFalse || got.Reason != v1alpha.ReasonAwaitingPropagation || got.Message != want {
		t.Errorf("got %+v", got)
	}
}
