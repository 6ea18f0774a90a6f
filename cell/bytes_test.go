// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestBytesOfAnInstance: the API server of a cell.
func TestBytesOfAnInstance(t *testing.T) {
	testenv.CheckBytesOfAnInstance(t, func(t *testing.T, env []corev1.EnvVar) (*v1alpha.InstanceTemplateSpec, *v1alpha.Instance) {
		t.Helper()
		f := newFixture(t)
		deployment := f.deployment(1, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Env = env })
		f.reconcile(f.deployments(), "web")
		return &deployment.Spec.Template, f.storedInstance("web-0")
	})
}
