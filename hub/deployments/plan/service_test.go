// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestServiceProgrammed: a fault in one city comes before a city that has not reported yet.
func TestServiceProgrammed(t *testing.T) {
	of := func(name string, status metav1.ConditionStatus, reason string) *v1alpha.WorkloadDeployment {
		d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
		d.Spec.ScaleSettings.MinReplicas = 1
		if reason != "" {
			d.Status.Conditions = []metav1.Condition{{
				Type: v1alpha.ConditionServiceProgrammed, Status: status, Reason: reason, Message: "message of " + name,
			}}
		}
		return d
	}
	list := func(deployments ...*v1alpha.WorkloadDeployment) []*v1alpha.WorkloadDeployment { return deployments }
	fine, silent := of("fine", metav1.ConditionTrue, v1alpha.ReasonServiceProgrammed), of("silent", "", "")
	taken := of("taken", metav1.ConditionFalse, v1alpha.ReasonServiceNameTaken)
	stopped := of("stopped", "", "")
	stopped.Spec.ScaleSettings.MinReplicas = 0
	for name, test := range map[string]struct {
		deployments []*v1alpha.WorkloadDeployment
		status      metav1.ConditionStatus
		reason      string
		message     string
	}{
		"no deployment":      {nil, metav1.ConditionUnknown, v1alpha.ReasonServicePending, "not reported"},
		"all":                {list(fine, fine), metav1.ConditionTrue, v1alpha.ReasonServiceProgrammed, ""},
		"one is silent":      {list(fine, silent), metav1.ConditionUnknown, v1alpha.ReasonServicePending, "silent"},
		"a fault":            {list(silent, taken), metav1.ConditionFalse, v1alpha.ReasonServiceNameTaken, "taken: message"},
		"one is scaled to 0": {list(fine, stopped), metav1.ConditionTrue, v1alpha.ReasonServiceProgrammed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := serviceProgrammed(test.deployments)
			if got.Status != test.status || got.Reason != test.reason || !strings.Contains(got.Message, test.message) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
