// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestSilenceIsNoFailure: a template is not undone because nothing is heard from a city. A refusal by a
// cell is no silence.
func TestSilenceIsNoFailure(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]v1alpha.RolloutPhase{
		v1alpha.ReasonCellNotReady: v1alpha.RolloutProgressing, v1alpha.ReasonKarmadaNotRunning: v1alpha.RolloutProgressing,
		v1alpha.ReasonReportOutdated: v1alpha.RolloutProgressing, v1alpha.ReasonNotApplied: v1alpha.RolloutUndoing,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			f, c := rolledOut(t)
			f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.OnFailure = v1alpha.RolloutUndo })
			c.settle(t)
			conditions := func(current metav1.Condition, progressing string) {
				current.Type = v1alpha.ConditionStatusCurrent
				changeStatus(t, f, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
					meta.SetStatusCondition(&d.Status.Conditions, current)
					meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
						Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: progressing,
					})
				})
			}
			c.Lost = "DFW"
			f.image(t, "registry.example/app:2")
			c.settle(t)
			conditions(metav1.Condition{Status: metav1.ConditionFalse, Reason: reason}, v1alpha.ReasonProgressDeadlineExceeded)
			c.settle(t)
			if got := f.phase(t); got != want {
				t.Fatalf("without a report of DFW it is %s, want %s", got, want)
			}
			if want == v1alpha.RolloutUndoing {
				return
			}
			c.Lost = ""
			conditions(metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha.ReasonReported}, v1alpha.ReasonSettled)
			c.settle(t)
			if got := c.state(t); got != "DFW 2/2 ORD 2/2" || f.phase(t) != v1alpha.RolloutComplete {
				t.Errorf("after its report it ends with %s, %s", got, f.phase(t))
			}
		})
	}
}
