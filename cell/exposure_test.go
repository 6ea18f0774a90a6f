// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/services"
)

// exposed gives the service of a deployment an address outside of the cell, by the settings of a hub.
func exposed(hub string) change {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Labels[v1alpha.LabelHub] = hub
		d.Spec.Service.Exposure = v1alpha.ServiceExposureLoadBalancer
	}
}

// configure plays the hub: the cell has a load balancer with these settings.
func (f *fixture) configure(cell *v1alpha.Cell, class string, annotations map[string]string) {
	f.t.Helper()
	stored := &v1alpha.Cell{}
	f.getCell(stored, cell.Name)
	stored.Spec.LoadBalancer = &v1alpha.CellLoadBalancer{Class: class, Annotations: annotations}
	f.update(stored)
	f.syncCell(cell.Name)
}

// balance plays the controller of a load balancer, which gives the Service these addresses, and annotates it.
func (f *fixture) balance(ingress ...corev1.LoadBalancerIngress) {
	f.t.Helper()
	service := f.service()
	service.Annotations = maps.Clone(f.service().Annotations)
	if service.Annotations == nil {
		service.Annotations = map[string]string{}
	}
	service.Annotations["example.com/given"] = "yes"
	f.update(service)
	service.Status.LoadBalancer.Ingress = ingress
	if err := f.direct.Status().Update(f.t.Context(), service); err != nil {
		f.t.Fatal(err)
	}
}

// reported are the addresses in the report of the deployment web.
func (f *fixture) reported() string {
	f.t.Helper()
	f.rollUp()
	if indices := f.storedDeployment().Status.Indices; len(indices) == 1 {
		return indices[0].Addresses
	}
	return "no report"
}

// TestExposure: an exposed Service is of the load balancer that the hub names for the cell, its addresses are reported,
// and it is withdrawn with its exposure.
func TestExposure(t *testing.T) {
	f := newFixture(t)
	hub := "hub-of-" + f.namespace
	f.labelHub(f.namespace, hub)
	cell := f.cell(types.UID(hub))
	f.syncCell(cell.Name)
	f.deployment(1, serving(1, 80), exposed(hub))

	f.reconcile(f.services(), "web")
	f.wantProgrammed("web", v1alpha.ReasonLoadBalancerNotConfigured)
	if got := f.service(); got == nil || got.Spec.Type != corev1.ServiceTypeClusterIP {
		t.Fatalf("without settings of the operator the Service is %+v", got)
	}

	f.configure(cell, "example.com/lb", map[string]string{"example.com/pool": "a", "example.com/old": "x"})
	f.reconcile(f.services(), "web")
	f.wantProgrammed("web", v1alpha.ReasonAwaitingAddress)
	got := f.service()
	if got.Spec.Type != corev1.ServiceTypeLoadBalancer || *got.Spec.LoadBalancerClass != "example.com/lb" ||
		got.Annotations["example.com/pool"] != "a" || got.Spec.Ports[0].NodePort == 0 {
		t.Fatalf("Service %+v", got)
	}
	f.reconcile(f.services(f.readOnly()), "web")

	f.balance(corev1.LoadBalancerIngress{IP: "203.0.113.9"}, corev1.LoadBalancerIngress{IP: "203.0.113.7"},
		corev1.LoadBalancerIngress{Hostname: "lb.example.com"})
	f.reconcile(f.services(), "web")
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	if got := f.reported(); got != "203.0.113.7,203.0.113.9,lb.example.com" {
		t.Errorf("reported %q", got)
	}

	f.settingsChange(cell, got)
	f.exposureEnds(got)
}

// settingsChange verifies that other settings change the Service, whose other annotations are the load balancer's.
func (f *fixture) settingsChange(cell *v1alpha.Cell, before *corev1.Service) {
	f.t.Helper()
	f.configure(cell, "example.com/lb", map[string]string{"example.com/pool": "b"})
	f.reconcile(f.services(), "web")
	changed := f.service()
	if _, old := changed.Annotations["example.com/old"]; old || changed.Annotations["example.com/pool"] != "b" ||
		changed.Annotations["example.com/given"] != "yes" || changed.Spec.Ports[0].NodePort != nodePort(before) {
		f.t.Errorf("Service %+v", changed)
	}
}

// exposureEnds verifies that the Service is withdrawn from the load balancer and stays for its cell.
func (f *fixture) exposureEnds(before *corev1.Service) {
	f.t.Helper()
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Exposure = "" })
	f.reconcile(f.services(), "web")
	withdrawn := f.service()
	if withdrawn.Spec.Type != corev1.ServiceTypeClusterIP || withdrawn.Spec.LoadBalancerClass != nil || withdrawn.UID != before.UID ||
		withdrawn.Annotations["example.com/pool"] != "" || withdrawn.Spec.ClusterIP != before.Spec.ClusterIP {
		f.t.Errorf("Service %+v", withdrawn)
	}
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	if got := f.reported(); got != "" {
		f.t.Errorf("without exposure %q is reported", got)
	}
}

// nodePort is the node port of the first port of a Service.
func nodePort(service *corev1.Service) int32 { return service.Spec.Ports[0].NodePort }

// TestClassOfALoadBalancer: a Service keeps its class for as long as it exists, so that another one takes a new Service.
func TestClassOfALoadBalancer(t *testing.T) {
	f := newFixture(t)
	hub := "hub-of-" + f.namespace
	f.labelHub(f.namespace, hub)
	cell := f.cell(types.UID(hub))
	f.configure(cell, "example.com/a", nil)
	f.deployment(1, serving(1, 80), exposed(hub))
	f.reconcile(f.services(), "web")
	before := f.service()
	f.configure(cell, "example.com/b", nil)
	for range 2 {
		f.reconcile(f.services(), "web")
	}
	if got := f.service(); got == nil || got.UID == before.UID || *got.Spec.LoadBalancerClass != "example.com/b" {
		t.Errorf("Service %+v", got)
	}
	f.reconcile(f.services(f.readOnly()), "web")
}

// TestManyAddresses: an agent reports a bounded number of addresses.
func TestManyAddresses(t *testing.T) {
	f := newFixture(t)
	hub := "hub-of-" + f.namespace
	f.labelHub(f.namespace, hub)
	f.configure(f.cell(types.UID(hub)), "", nil)
	f.deployment(1, serving(1, 80), exposed(hub))
	f.reconcile(f.services(), "web")
	var many []corev1.LoadBalancerIngress
	for i := range 1000 {
		many = append(many, corev1.LoadBalancerIngress{IP: "203.0.113." + string(rune('0'+i%10))})
	}
	f.balance(many...)
	f.reconcile(f.services(), "web")
	if got := f.reported(); len(got) > 8*len("203.0.113.0,") {
		t.Errorf("reported %q", got)
	}
}

// TestManyIngresses: of more addresses than are reported always the same ones are, in whatever order the load balancer
// lists them.
func TestManyIngresses(t *testing.T) {
	t.Parallel()
	deployment := &v1alpha.WorkloadDeployment{}
	deployment.Labels = map[string]string{}
	serving(1, 80)(deployment)
	exposed("hub")(deployment)
	deployment.Spec.WorkloadRef.UID = "uid"
	service := &corev1.Service{}
	service.Labels = map[string]string{v1alpha.LabelWorkloadUID: "uid"}
	service.Spec.Type = corev1.ServiceTypeLoadBalancer
	for i := range 20 {
		service.Status.LoadBalancer.Ingress = append(service.Status.LoadBalancer.Ingress,
			corev1.LoadBalancerIngress{IP: fmt.Sprintf("203.0.113.%d", 10+i)})
	}
	before := services.Addresses(service, deployment)
	slices.Reverse(service.Status.LoadBalancer.Ingress)
	if after := services.Addresses(service, deployment); after != before || strings.Count(after, ",") != 7 {
		t.Errorf("reported are %s, and in another order %s", before, after)
	}
}
