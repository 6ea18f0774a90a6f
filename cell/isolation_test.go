// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/isolation"
)

// policies are the names of the network policies of the namespace.
func (f *fixture) policies() []string {
	f.t.Helper()
	var list networkingv1.NetworkPolicyList
	if err := f.direct.List(f.t.Context(), &list, client.InNamespace(f.namespace)); err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

func (f *fixture) isolate() {
	f.t.Helper()
	f.reconcile(&isolation.Reconciler{Client: f.cached}, "web")
}

// admitting lets the template let in connections from a block of addresses.
func admitting(cidr string) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.NetworkInterfaces[0].NetworkPolicy = &v1alpha.InterfaceNetworkPolicy{
			Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: cidr}}}}},
		}
	}
}

// TestNamespacesAreApart: the policy of a namespace admits no traffic, however it is edited by hand. The traffic that
// templates admit is in separate policies.
func TestNamespacesAreApart(t *testing.T) {
	f := newFixture(t)
	uid := "north-" + f.namespace
	f.deployment(1, func(d *v1alpha.WorkloadDeployment) {
		d.Labels[v1alpha.LabelProjectUID] = uid
	})
	f.isolate()
	if got := f.policies(); len(got) != 2 || got[0] != isolation.NamespacePolicy {
		t.Fatalf("policies %v", got)
	}
	policy := &networkingv1.NetworkPolicy{}
	check := func() {
		t.Helper()
		f.get(policy, isolation.NamespacePolicy)
		if len(policy.Spec.PodSelector.MatchLabels) > 0 || len(policy.Spec.Ingress) != 0 ||
			!slices.Equal(policy.Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}) {
			t.Errorf("spec %+v", policy.Spec)
		}
	}
	check()
	version := policy.ResourceVersion
	f.isolate()
	if check(); policy.ResourceVersion != version {
		t.Error("a policy that is right was written")
	}
	policy.Spec.Ingress = append(policy.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{})
	f.update(policy)
	f.isolate()
	check()
}

// TestTemplatesLetIn: each template has the rules of its own, as long as an Instance has it.
func TestTemplatesLetIn(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2, admitting("192.0.2.0/24"))
	old := f.instance(deployment, 0, fromTemplate("old"))
	f.instance(deployment, 1)
	f.isolate()
	got := f.policies()
	if len(got) != 3 || got[0] != isolation.NamespacePolicy || !slices.Contains(got, "web-old") {
		t.Fatalf("policies %v", got)
	}
	policy := &networkingv1.NetworkPolicy{}
	f.get(policy, "web-old")
	if !metav1.IsControlledBy(policy, deployment) || policy.Spec.PodSelector.MatchLabels[v1alpha.LabelTemplateHash] != "old" ||
		policy.Spec.Ingress[0].From[0].IPBlock.CIDR != "192.0.2.0/24" {
		t.Errorf("policy %+v", policy)
	}
	// The Pod that runs after its Instance got another template keeps its rules.
	old.Spec.Controller.TemplateHash = f.storedInstance("web-1").TemplateHash()
	f.update(old)
	old.Status.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: "old"}
	if err := f.direct.Status().Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	f.isolate()
	if got := f.policies(); len(got) != 3 || !slices.Contains(got, "web-old") {
		t.Errorf("policies %v while a Pod has the template", got)
	}
	old.Status.Controller = nil
	if err := f.direct.Status().Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	f.isolate()
	if got := f.policies(); len(got) != 2 || slices.ContainsFunc(got, func(name string) bool { return strings.HasSuffix(name, "-old") }) {
		t.Errorf("policies %v", got)
	}
	// The rules of another deployment stay.
	other := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.namespace, Name: "other", Labels: map[string]string{v1alpha.LabelManagedBy: v1alpha.ManagedByCell},
	}}
	f.create(other)
	f.isolate()
	f.get(other, "other")
}
