// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestDeploymentOfAnEarlierProject: what the finalizer held in namespace default when a project was deleted comes back, being
// deleted, with a later project of that name. It ends, whether its copy was withdrawn meanwhile or not, and what the later
// project has stays.
func TestDeploymentOfAnEarlierProject(t *testing.T) {
	t.Parallel()
	for name, withdrawn := range map[string]bool{"its copy is on the hub": false, "its copy was withdrawn": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := propagated(t)
			for _, obj := range []client.Object{f.copied(), f.namespace()} {
				planes.Change(t, f.Planes, obj, func(o client.Object) { o.GetLabels()[v1alpha.LabelProjectUID] = "earlier" })
			}
			if withdrawn {
				end(t, f, f.copied())
				planes.Delete(t, f.Planes, f.copied())
			}
			planes.Create(t, f.Planes, f.Deployment("later", f.city))
			f.mustReconcile(t, "later")
			planes.Delete(t, f.Planes, f.original)
			f.mustReconcile(t, "web")
			if !withdrawn {
				if read(t, f, f.copied()).DeletionTimestamp.IsZero() {
					t.Fatal("the copy is not deleted")
				}
				end(t, f, f.copied())
				f.mustReconcile(t, "web")
			}
			if planes.Exists(t, f.Planes, f.original) || planes.Exists(t, f.Planes, f.copied()) {
				t.Error("the deployment or its copy stays")
			}
			if !read(t, f, f.namespace()).DeletionTimestamp.IsZero() || !planes.Exists(t, f.Planes, f.policy()) {
				t.Error("what the later project needs goes")
			}
			if uid := read(t, f, f.namespace()).Labels[v1alpha.LabelProjectUID]; uid != string(planes.ProjectUID) {
				t.Errorf("the namespace is of project %s", uid)
			}
		})
	}
}
