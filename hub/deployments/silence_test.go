// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
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
				planes.ChangeStatus(t, f.Planes, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
					meta.SetStatusCondition(&d.Status.Conditions, current)
					meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
						Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: progressing,
					})
				})
			}
			c.lost = "DFW"
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
			c.lost = ""
			conditions(metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha.ReasonReported}, v1alpha.ReasonSettled)
			c.settle(t)
			if got := c.state(t); got != "DFW 2/2 ORD 2/2" || f.phase(t) != v1alpha.RolloutComplete {
				t.Errorf("after its report it ends with %s, %s", got, f.phase(t))
			}
		})
	}
}

// TestAHistoryThatIsNotServed: a project that does not serve the history of a Workload for a moment has not said that a revision is
// gone, so that no template is taken for the last complete one or is left out of the history. A project without a history
// has none.
func TestAHistoryThatIsNotServed(t *testing.T) {
	t.Parallel()
	t.Run("for a moment", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, "DFW")
		f.requeues = true
		f.workload(t, "main DFW")
		f.mustReconcile(t)
		first := f.readDeployment(t, "web-main-dfw").Spec.Template
		f.image(t, "registry.example/app:2")
		f.Project.Unserve("WorkloadRevision")
		if err := f.reconcile(t); err == nil || !apierrors.IsNotFound(err) {
			t.Errorf("the second template is rolled out without a record: %v", err)
		}
		if got := f.readDeployment(t, "web-main-dfw").Spec.Template; hashOf(t, &got) != hashOf(t, &first) {
			t.Errorf("the deployment has %v", got.Spec.Runtime)
		}
		project, err := projects.Find(t.Context(), f.Planes, f.request().ClusterName)
		if err != nil {
			t.Fatal(err)
		}
		s := f.reconciler.scope(f.request(), project, f.readWorkload(t))
		if template, err := s.history.withHash(t.Context(), hashOf(t, &first)); err == nil {
			t.Errorf("the first revision is %v", template)
		}
		f.Project.Unserve("")
		if template, err := s.history.withHash(t.Context(), "lost"); template != nil || err != nil {
			t.Errorf("a revision that is gone is %v, %v", template, err)
		}
		f.mustReconcile(t)
		if got := f.revisions(t); !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("the revisions are %v", got)
		}
	})
	t.Run("ever", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, "DFW")
		f.requeues = true
		f.Project.Unserve("WorkloadRevision")
		f.workload(t, "main DFW")
		f.mustReconcile(t)
		second := f.image(t, "registry.example/app:2")
		f.mustReconcile(t)
		f.mustReconcile(t)
		if got := f.readDeployment(t, "web-main-dfw").Spec.Template; hashOf(t, &got) != second {
			t.Errorf("the deployment has %v", got.Spec.Runtime)
		}
	})
}
