// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// TestNamesOfOtherProjects: the project of a request determines which names its Workloads may ask for.
func TestNamesOfOtherProjects(t *testing.T) {
	rules, err := naming.ParseHostnames("", []string{"north=north.example", "south=south.example"})
	if err != nil {
		t.Fatal(err)
	}
	handler := workloads(newProjects())
	handler.Names = validation.Names{Rules: rules}
	for name, want := range map[string]string{
		"www.north.example": "",
		"www.south.example": "spec.service.hostnames[0]: Invalid value: \"www.south.example\": must be in a domain",
	} {
		w := changed(workload("DFW"), func(w *v1alpha.Workload) {
			w.Spec.Service = &v1alpha.WorkloadService{
				Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: v1alpha.ServiceExposureLoadBalancer, Hostnames: []string{name},
			}
		})
		response := handler.Handle(t.Context(), creation(t, w))
		if response.Allowed != (want == "") || !response.Allowed && !strings.Contains(response.Result.Message, want) {
			t.Errorf("%s: %t %v", name, response.Allowed, response.Result)
		}
	}
}
