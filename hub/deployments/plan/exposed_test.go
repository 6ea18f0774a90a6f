// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestServiceInDeployments: a change of the service reaches every deployment at once, with a higher generation. Other
// changes and written defaults leave it as it is.
func TestServiceInDeployments(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	f.requeues = true
	workload := f.workload(t, "main DFW", "other ORD")
	change := func(mutate func(*v1alpha.Workload)) (versions []string, last *v1alpha.WorkloadDeployment) {
		t.Helper()
		change(t, f, workload, mutate)
		f.mustReconcile(t)
		for _, name := range []string{"web-main-dfw", "web-other-ord"} {
			last = f.readDeployment(t, name)
			versions = append(versions, last.ResourceVersion)
		}
		return versions, last
	}
	change(func(w *v1alpha.Workload) {
		w.Spec.Service = &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: 80}}}
	})
	first := f.readDeployment(t, "web-main-dfw").Spec
	if first.Service == nil || first.ServiceGeneration == 0 || *first.Service.Ports[0].Protocol != corev1.ProtocolTCP ||
		*first.Service.Ports[0].TargetPort != intstr.FromInt32(80) {
		t.Fatalf("service %+v of generation %d", first.Service, first.ServiceGeneration)
	}

	before, _ := change(func(*v1alpha.Workload) {})
	after, _ := change(func(w *v1alpha.Workload) {
		w.Spec.Service.Ports[0].Protocol, w.Spec.Service.Ports[0].TargetPort = new(corev1.ProtocolTCP), new(intstr.FromInt32(80))
		w.Spec.Service.Probe = &v1alpha.ServiceProbe{Path: "/ready"}
	})
	if strings.Join(before, " ") != strings.Join(after, " ") {
		t.Error("a default that is written, or a probe, which only the hub reads, changes the deployments")
	}
	_, deployment := change(func(w *v1alpha.Workload) { w.Spec.MinReadySeconds = new(int32(3)) })
	if deployment.Spec.MinReadySeconds == nil || deployment.Spec.ServiceGeneration != first.ServiceGeneration {
		t.Errorf("another change makes generation %d of the service %d", first.ServiceGeneration, deployment.Spec.ServiceGeneration)
	}
	_, deployment = change(func(w *v1alpha.Workload) { w.Spec.Service.Ports[0].Port = 81 })
	dfw := f.readDeployment(t, "web-main-dfw")
	if deployment.Spec.ServiceGeneration <= first.ServiceGeneration || dfw.Spec.ServiceGeneration != deployment.Spec.ServiceGeneration ||
		dfw.Spec.Service.Ports[0].Port != 81 || dfw.Spec.Partition != nil {
		t.Errorf("after a change in DFW %+v of generation %d, in ORD of %d", dfw.Spec.Service, dfw.Spec.ServiceGeneration,
			deployment.Spec.ServiceGeneration)
	}
	if _, deployment = change(func(w *v1alpha.Workload) { w.Spec.Service = nil }); deployment.Spec.Service != nil {
		t.Errorf("the service stays: %+v", deployment.Spec.Service)
	}
	if found := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionServiceProgrammed); found != nil {
		t.Errorf("the Workload has %+v without a service", found)
	}
}

// TestNamesOfARoute: deployments have the names that no other project can have, and a change of them is a newer service.
func TestNamesOfARoute(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.requeues = true
	f.hostnames = naming.Hostnames{
		Pattern: "{workload}.{project}.apps.example.com", Domains: map[string][]string{"north": {"north.example"}, "south": {"south.example"}},
	}
	workload := f.workload(t, "main DFW")
	change := func(exposure v1alpha.ServiceExposure, hostnames ...string) *v1alpha.WorkloadDeploymentSpec {
		t.Helper()
		change(t, f, workload, func(w *v1alpha.Workload) {
			w.Spec.Service = &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: exposure, Hostnames: hostnames}
		})
		f.mustReconcile(t)
		if writes := f.mustReconcile(t); len(writes) > 0 {
			t.Errorf("it does not settle: %v", writes)
		}
		return &f.readDeployment(t, "web-main-dfw").Spec
	}
	first := change(v1alpha.ServiceExposureGateway)
	if got := strings.Join(first.Service.Hostnames, " "); got != "web.north.apps.example.com" {
		t.Errorf("the names are %s", got)
	}
	second := change(v1alpha.ServiceExposureGateway, "www.north.example", "www.south.example")
	if got := strings.Join(second.Service.Hostnames, " "); got != "web.north.apps.example.com www.north.example" ||
		second.ServiceGeneration <= first.ServiceGeneration {
		t.Errorf("the names are %s, generation %d", got, second.ServiceGeneration)
	}
	if third := change(v1alpha.ServiceExposureLoadBalancer, "www.north.example"); len(third.Service.Hostnames) > 0 {
		t.Errorf("a load balancer has names %v", third.Service.Hostnames)
	}
}
