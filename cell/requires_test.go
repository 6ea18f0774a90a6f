// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// requires lets the hub require fields that the API server of the cell has dropped.
func requires(fields string) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Annotations = map[string]string{v1alpha.AnnotationRequires: fields}
	}
}

// TestFieldsMissing: without fields that the hub requires, the cell creates and deletes no Instance, lifts no gate, and
// reports the reason.
func TestFieldsMissing(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(3, parallel, requires("assignment,quota"))
	f.instance(deployment, 0, gated(v1alpha.GateQuota))
	f.instance(deployment, 7)
	f.reconcile(f.deployments(), deployment.Name)
	f.wantInstances([]string{"web-0", "web-7"}, nil)
	f.reconcile(f.runtime(), "web-0")
	f.wantGates("web-0", v1alpha.GateQuota)
	f.reconcile(f.runtime(), "web-7")
	if f.storedPod("web-7") == nil || f.storedPod("web-0") != nil {
		t.Error("not exactly the Instance that was let start before gets a Pod again")
	}
	f.rollUp()
	condition := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionSpecReceived)
	if condition == nil || condition.Reason != v1alpha.ReasonFieldsMissing ||
		!strings.Contains(condition.Message, "spec.assignment, spec.quota") {
		t.Errorf("the condition is %+v", condition)
	}
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{}
		d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{0})}
	})
	f.reconcile(f.runtime(), "web-0")
	f.wantGates("web-0")
	f.rollUp()
	if condition := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionSpecReceived); condition != nil {
		t.Errorf("with all fields the condition is %+v", condition)
	}
}

// TestSuspensionMissing: a deleted Pod is not recreated while it is not known whether the project is suspended.
func TestSuspensionMissing(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, requires("suspended"))
	f.instance(deployment, 0)
	f.reconcile(f.runtime(), "web-0")
	if f.storedPod("web-0") != nil {
		t.Error("an Instance is started")
	}
	f.wantReady("web-0", "-"+v1alpha.ReasonFieldsMissing)
}
