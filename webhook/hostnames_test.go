// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
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

// TestExposureWarnings: a change to an exposure that cities lack is admitted, with the cities and what the operator sets.
func TestExposureWarnings(t *testing.T) {
	rules, err := naming.ParseHostnames("", []string{"north=north.example"})
	if err != nil {
		t.Fatal(err)
	}
	exposed := func(exposure v1alpha.ServiceExposure, hostnames ...string) *v1alpha.Workload {
		return changed(workload("DFW"), func(w *v1alpha.Workload) {
			w.Spec.Placements = append(w.Spec.Placements, v1alpha.WorkloadPlacement{
				Name: "other", Locations: []v1alpha.PlacementLocation{{Name: "ord-1"}}, ScaleSettings: w.Spec.Placements[0].ScaleSettings,
			})
			w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Ports = []v1alpha.NamedPort{{Name: "http", Port: 80}}
			w.Spec.Service = &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: exposure, Hostnames: hostnames}
		})
	}
	const balancer, gateway, name = v1alpha.ServiceExposureLoadBalancer, v1alpha.ServiceExposureGateway, "www.north.example"
	for _, test := range []struct {
		before, now *v1alpha.Workload
		lacking     []string
		fails       bool
		want        string
	}{
		{
			exposed(balancer, name), exposed(gateway, name),
			[]string{"DFW", "ORD"},
			false,
			"no cell of DFW, ORD has a Gateway: the Workload keeps exposure LoadBalancer",
		},
		{exposed(balancer, name), exposed(gateway, name), []string{"ORD"}, false, "no cell of ORD has a Gateway: the names lose"},
		{exposed(gateway, name), exposed(balancer, name), []string{"DFW", "ORD"}, false, "no cell of DFW, ORD has a load balancer"},
		{exposed(balancer, name), exposed(gateway, name), nil, false, ""},
		{exposed(balancer, name), exposed(gateway, name), []string{"DFW", "ORD"}, true, ""},
		{exposed(balancer), exposed(balancer, name), []string{"DFW", "ORD"}, false, ""},
		{exposed(v1alpha.ServiceExposureCluster), exposed(balancer), []string{"DFW", "ORD"}, false, ""},
	} {
		handler := workloads(newProjects())
		handler.Names = validation.Names{Rules: rules}
		handler.Lacking = func(_ context.Context, cities []string, _ v1alpha.ServiceExposure) ([]string, error) {
			if test.fails {
				return cities, errUnreachable
			}
			if got := strings.Join(cities, " "); got != "DFW ORD" {
				t.Errorf("asked about %s", got)
			}
			return test.lacking, nil
		}
		response := handler.Handle(t.Context(), update(t, test.before, test.now))
		all := strings.Join(response.Warnings, "\n")
		about := strings.Contains(all, "spec.service.exposure")
		if !response.Allowed || about != (test.want != "") || about && (!strings.Contains(all, test.want) ||
			!strings.Contains(all, v1alpha.AnnotationLoadBalancer)) {
			t.Errorf("%s: allowed %t %v with %q, want %q", test.now.Spec.Service.Exposure, response.Allowed, response.Result, all, test.want)
		}
	}
}
