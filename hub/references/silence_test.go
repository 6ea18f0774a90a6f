// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestDataOfASilentCell: the data is in the cell by its last report, until the template changes.
func TestDataOfASilentCell(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]func(*testing.T, *fixture, *v1alpha.WorkloadDeployment){
		"its Work has no report": func(t *testing.T, f *fixture, copied *v1alpha.WorkloadDeployment) {
			t.Helper()
			f.Deliver(t, copied, map[string]*v1alpha.WorkloadDeploymentStatus{"dfw": nil})
		},
		"the hub has lost the copy": func(t *testing.T, f *fixture, copied *v1alpha.WorkloadDeployment) {
			t.Helper()
			planes.Delete(t, f.Planes, copied)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t).engage(t)
			original := f.deploy(t, "web", templateNaming([]string{"app"}, nil))
			f.mustReconcile(t)
			planes.Create(t, f.Planes, f.app())
			f.await(t, f.app())
			f.mustReconcile(t)
			f.report(t, "web", metav1.ConditionTrue)
			f.mustReconcile(t)
			f.wantReason(t, "web", v1alpha.ReasonReferencedDataPresent)
			copied := f.Deployment("web", "")
			copied.Namespace = f.HubNamespace
			silence(t, f, copied)
			f.mustReconcile(t)
			f.wantReason(t, "web", v1alpha.ReasonReferencedDataPresent)

			hash, err := templates.Hash(&original.Spec.Template)
			if err != nil {
				t.Fatal(err)
			}
			planes.ChangeStatus(t, f.Planes, original, func(d *v1alpha.WorkloadDeployment) {
				d.Status.Indices = []v1alpha.CellIndices{{Cell: "dfw", TemplateHash: hash}}
			})
			planes.Change(t, f.Planes, original, func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 3 })
			f.mustReconcile(t)
			f.wantReason(t, "web", v1alpha.ReasonReferencedDataPresent)
			planes.Change(t, f.Planes, original, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template.Spec.Volumes[0].Name = "other" })
			f.mustReconcile(t)
			f.wantReason(t, "web", v1alpha.ReasonAwaitingPropagation)
		})
	}
}

// TestAHistoryThatIsNotServed: a project that does not serve its history for a moment loses no content, and its other data is
// copied.
func TestAHistoryThatIsNotServed(t *testing.T) {
	t.Parallel()
	f := runs(t)
	planes.ChangeStatus(t, f.Planes, f.web(t), func(w *v1alpha.Workload) {
		w.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: v1alpha.RolloutComplete, Revision: 1}
	})
	f.writes(t, "red")
	f.mustReconcile(t)
	f.started(t)
	f.settled(t)
	f.Project.Unserve("WorkloadRevision")
	planes.Create(t, f.Planes, f.database())
	f.deploy(t, "other", templateNaming(nil, []string{"database"}))
	for range 2 {
		if _, err := f.reconcile(t); err == nil {
			t.Error("it is taken for an answer")
		}
		f.sync(t)
	}
	if got := f.snapshots(t); !slices.Equal(got, []string{"blue", "red"}) {
		t.Errorf("on the hub are %v", got)
	}
	if !f.isOnHub(t, f.database()) {
		t.Error("other data is not copied")
	}
	f.Project.Unserve("")
	f.settled(t)
	if got := f.snapshots(t); !slices.Equal(got, []string{"blue", "red"}) {
		t.Errorf("afterwards, on the hub are %v", got)
	}
}
