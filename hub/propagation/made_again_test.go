// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestDeploymentOfAnEarlierProject: deployments that the finalizer held in namespace default when a project was deleted
// reappear, being deleted, in a later project of that name. Their deletion ends, the objects of the later project
// remain, and hub/collector withdraws the leftovers of the earlier one on the hub.
func TestDeploymentOfAnEarlierProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	left := f.victim(t, naming.HubNamespace("earlier", string(f.Namespace.UID)), map[string]string{
		v1alpha.LabelProject: naming.ProjectLabel(string(planes.ProjectName)), v1alpha.LabelProjectNamespace: f.Namespace.Name,
		v1alpha.LabelProjectUID: "earlier", v1alpha.LabelProjectNamespaceUID: string(f.Namespace.UID),
	})
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Finalizers = []string{v1alpha.FinalizerPropagation}
		d.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: left.objects[0].GetName()}
	})
	planes.Create(t, f.Planes, f.Deployment("later", f.city))
	f.mustReconcile(t, "later")
	planes.Delete(t, f.Planes, f.original)
	f.mustReconcile(t, "web")
	if planes.Exists(t, f.Planes, f.original) {
		t.Error("the deployment stays")
	}
	if !read(t, f, f.namespace()).DeletionTimestamp.IsZero() || !planes.Exists(t, f.Planes, f.policy()) {
		t.Error("what the later project needs goes")
	}
	left.untouched(t, f, "after the deployment has ended")
}
