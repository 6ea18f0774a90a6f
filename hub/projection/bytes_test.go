// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestBytesOfAnInstance: the API server of a project.
func TestBytesOfAnInstance(t *testing.T) {
	testenv.CheckBytesOfAnInstance(t, func(t *testing.T, env []corev1.EnvVar) (*v1alpha.InstanceTemplateSpec, *v1alpha.Instance) {
		t.Helper()
		f := newFixture(t)
		planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Env = env
		})
		f.original = f.readOriginal(t)
		hash, err := templates.Hash(&f.original.Spec.Template)
		if err != nil {
			t.Fatal(err)
		}
		f.report(t, instance("web-0", hash, metav1.ConditionTrue))
		f.mustReconcile(t)
		t.Logf("the hub stores a report of %d bytes", testenv.Bytes(t, f.copied.Status.Reports))
		return &f.original.Spec.Template, f.readInstance(t, "web-0")
	})
}
