// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// TestInstancesOfAnEarlierVersion: an agent of an earlier version gave Instances the hash of the text of their
// template. They are not replaced, count as current, and new ones get the same hash.
func TestInstancesOfAnEarlierVersion(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(3, parallel, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Resources = &v1alpha.ContainerResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceMemory: quantity("33554432")},
		}
	})
	version, err := templates.VersionOf(&deployment.Spec.Template)
	if err != nil || len(version.Earlier) != 1 {
		t.Fatalf("its hashes are %+v, %v", version, err)
	}
	for index := range 2 {
		f.running(deployment, index, fromTemplate(version.Earlier[0]))
	}
	f.reconcile(f.deployments(), "web")
	f.wantInstances([]string{"web-0", "web-1", "web-2"}, nil)
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		if got := f.storedInstance(name).TemplateHash(); got != version.Earlier[0] {
			t.Errorf("%s has template %s, want %s", name, got, version.Earlier[0])
		}
	}
	if replaced := f.replaced(); len(replaced) > 0 {
		t.Errorf("%v are replaced", replaced)
	}
	f.rollUp()
	status := f.storedDeployment().Status
	if status.CurrentReplicas != 3 || !slices.Contains([]string{version.Earlier[0], version.Hash},
		status.Indices[0].TemplateHash) || status.Indices[0].Current != "0-2" {
		t.Errorf("reported are %+v, %+v", status.ReplicaCounts, status.Indices)
	}
}
