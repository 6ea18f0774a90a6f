// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestARefusedTemplateDegrades: a rollout is blocked by a cell that refuses its template, although no Instance is
// broken, and no longer when the cell reports on a corrected one.
func TestARefusedTemplateDegrades(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	c := f.cell()
	f.workload(t, "main DFW")
	c.settle(t)
	f.image(t, "registry.example/app:2")
	f.mustReconcile(t)

	report := func(about int64) {
		changeStatus(t, f, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
			meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
				Type: v1alpha.ConditionTemplateAccepted, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonRuntimeClassNotServed,
				Message: "Instance web-main-dfw-1 keeps its template", ObservedGeneration: d.Generation + about,
			})
		})
		f.mustReconcile(t)
	}
	degraded := func() *metav1.Condition {
		return meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionDegraded)
	}
	report(-1)
	if got := degraded(); got.Status != metav1.ConditionFalse {
		t.Errorf("a refusal of the template before degrades the Workload: %+v", got)
	}
	report(0)
	if got := degraded(); got == nil || got.Status != metav1.ConditionTrue || got.Reason != v1alpha.ReasonRuntimeClassNotServed ||
		!strings.HasPrefix(got.Message, "DFW: RuntimeClassNotServed: Instance web-main-dfw-1 keeps its template. ") {
		t.Errorf("a refused template gives %+v", got)
	}
	f.image(t, "registry.example/app:3")
	f.mustReconcile(t)
	if got := degraded(); got == nil || got.Status != metav1.ConditionFalse {
		t.Errorf("a corrected template gives %+v", got)
	}
}
