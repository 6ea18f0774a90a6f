// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestServiceFieldsOfOthers: fields that no Workload has, and optional ones that the Workload does not set, belong to whoever
// sets them in the cell. The agent removes a field that the Workload has set and does not set any more.
func TestServiceFieldsOfOthers(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(1, 80))
	f.reconcile(f.services(), "web")
	theirs := f.service()
	theirs.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	theirs.Spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyLocal)
	theirs.Spec.TrafficDistribution = new(corev1.ServiceTrafficDistributionPreferClose)
	theirs.Spec.ExternalIPs = []string{"198.51.100.7"}
	theirs.Spec.Ports[0].AppProtocol = new("http")
	theirs.Labels["example.com/team"] = "mesh"
	f.update(theirs)
	f.reconcile(f.services(f.readOnly()), "web")

	ports := func(generation int64, appProtocol *string) {
		f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
			serving(generation, 80)(d)
			d.Spec.Service.Ports[0].Name = "http"
			d.Spec.Service.Ports = append(d.Spec.Service.Ports, v1alpha.ServicePort{Name: "api", Port: 81, AppProtocol: appProtocol})
		})
		f.reconcile(f.services(), "web")
	}
	ports(2, new("kubernetes.io/h2c"))
	if got := f.service().Spec; ptr.Deref(got.Ports[1].AppProtocol, "") != "kubernetes.io/h2c" {
		t.Errorf("ports %+v", got.Ports)
	}
	ports(3, nil)
	got := f.service().Spec
	if ptr.Deref(got.Ports[0].AppProtocol, "") != "http" || got.Ports[1].AppProtocol != nil ||
		got.SessionAffinity != corev1.ServiceAffinityClientIP || got.SessionAffinityConfig == nil ||
		*got.InternalTrafficPolicy != corev1.ServiceInternalTrafficPolicyLocal || got.TrafficDistribution == nil || len(got.ExternalIPs) != 1 {
		t.Errorf("Service %+v", got)
	}
	f.reconcile(f.services(f.readOnly()), "web")
}

// TestServiceOwnersOfOthers: an owner that another party adds to a ServiceExport while the agent changes the owners stays.
func TestServiceOwnersOfOthers(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(1, 80))
	f.reconcile(f.exporting(), "web")
	f.deployment(1, called("web-other"), serving(1, 80))
	f.reconcile(f.services(), "web")
	others := f.beforeWrites(func(verb string) error {
		export := f.serviceExport()
		if owners := export.GetOwnerReferences(); verb == "patch" && len(owners) == 1 {
			export.SetOwnerReferences(append(owners, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "theirs"}))
			f.update(export)
		}
		return nil
	})
	reconciler := f.exporting(others)
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: f.namespace, Name: "web"}}
	for range 2 {
		// The first write meets another version of the object.
		_, _ = reconciler.Reconcile(t.Context(), request)
	}
	if owners := f.serviceExport().GetOwnerReferences(); len(owners) != 3 {
		t.Errorf("owners %+v", owners)
	}
}

// TestRouteFieldsOfOthers: a filter that another party adds to the rule of a route stays while the agent changes other fields.
func TestRouteFieldsOfOthers(t *testing.T) {
	f := newAttached(t, "shop.example.com")
	route := f.httpRoute()
	rules, _, _ := unstructured.NestedSlice(route.Object, "spec", "rules")
	rules[0].(map[string]any)["filters"] = []any{map[string]any{
		"type": "ResponseHeaderModifier", "responseHeaderModifier": map[string]any{"remove": []any{"Server"}},
	}}
	route.Object["spec"].(map[string]any)["rules"] = rules
	f.update(route)
	f.after(time.Minute)
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Hostnames = []string{"new.example.com"} })
	f.after(2 * time.Minute)
	got := f.httpRoute()
	rules, _, _ = unstructured.NestedSlice(got.Object, "spec", "rules")
	names, _, _ := unstructured.NestedStringSlice(got.Object, "spec", "hostnames")
	if rules[0].(map[string]any)["filters"] == nil || names[0] != "new.example.com" {
		t.Errorf("route %+v", got.Object["spec"])
	}
}
