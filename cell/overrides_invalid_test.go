// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestAnOverrideThatMakesTheTemplateInvalid: the API server of the cell refuses it, so that Karmada reports that the Work
// is not applied (hub/path names the policy), and the Instances keep what they run.
func TestAnOverrideThatMakesTheTemplateInvalid(t *testing.T) {
	f := newFixture(t)
	f.runsFour(named)
	container := func(change func(*v1alpha.SandboxContainer)) func(*v1alpha.InstanceRuntimeSpec) {
		return func(r *v1alpha.InstanceRuntimeSpec) { change(&r.Sandbox.Containers[0]) }
	}
	for name, override := range map[string]func(*v1alpha.InstanceRuntimeSpec){
		"removes the containers": func(r *v1alpha.InstanceRuntimeSpec) { r.Sandbox.Containers = nil },
		"removes the runtime":    func(r *v1alpha.InstanceRuntimeSpec) { r.Sandbox = nil },
		"removes the image":      container(func(c *v1alpha.SandboxContainer) { c.Image = "" }),
		"removes the name":       container(func(c *v1alpha.SandboxContainer) { c.Name = "" }),
		"doubles a container": func(r *v1alpha.InstanceRuntimeSpec) {
			r.Sandbox.Containers = append(r.Sandbox.Containers, r.Sandbox.Containers[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := f.storedDeployment()
			before := deployment.DeepCopy()
			override(&deployment.Spec.Template.Spec.Runtime)
			err := f.direct.Patch(t.Context(), deployment, client.MergeFrom(before))
			if !apierrors.IsInvalid(err) {
				t.Errorf("the cell answers %v", err)
			}
			f.reconcile(f.deployments(), "web")
			if got := f.replaced(); len(got) > 0 || f.image("web-0") != "example.com/app" {
				t.Errorf("%v are replaced", got)
			}
		})
	}
}
