// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
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
