// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ac "github.com/karmada-compute/karmada-compute/api/applyconfiguration/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/api/client"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestClient writes an object with the typed client of the API's module, and reads it.
func TestClient(t *testing.T) {
	clients, err := client.NewForConfig(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	types := clients.ComputeV1alpha().InstanceTypes()
	wanted := ac.InstanceType("example-small").
		WithSpec(ac.InstanceTypeSpec().WithResources(corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("64Mi")}))
	if _, err := types.Apply(t.Context(), wanted, metav1.ApplyOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	stored, err := types.Get(t.Context(), "example-small", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := stored.Spec.Resources.Cpu().String(); got != "1" {
		t.Errorf("the stored type has %s CPUs, want 1", got)
	}
}
