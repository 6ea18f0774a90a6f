// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/isolation"
)

// place is a namespace of a project in the cell.
type place struct {
	*fixture
	projectUID, projectNamespace string
}

// place creates the namespace of a project's namespace in the cell.
func (f *fixture) place(projectUID, projectNamespace string) *place {
	f.t.Helper()
	own := *f
	own.namespace = hubNamespace(f.t, f.direct)
	// The UIDs of projects are of this test alone: the tests share a cell.
	p := &place{fixture: &own, projectUID: projectUID + "-" + f.namespace, projectNamespace: projectNamespace}
	namespace := &corev1.Namespace{}
	if err := f.direct.Get(f.t.Context(), client.ObjectKey{Name: own.namespace}, namespace); err != nil {
		f.t.Fatal(err)
	}
	namespace.Labels[v1alpha.LabelProjectUID] = p.projectUID
	p.update(namespace)
	p.awaitNamespace(own.namespace, hubOfCopies)
	return p
}

type change = func(*v1alpha.WorkloadDeployment)

// in attaches a template to a network, which is by default in the namespace of its Workload.
func in(network, namespace string) change {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.NetworkInterfaces[0].Network = v1alpha.NetworkReference{Name: network, Namespace: namespace}
	}
}

// restricting gives a template the ingress rules of its own.
func restricting(rules ...networkingv1.NetworkPolicyIngressRule) change {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.NetworkInterfaces[0].NetworkPolicy = &v1alpha.InterfaceNetworkPolicy{Ingress: rules}
	}
}

// named creates a WorkloadDeployment of this name, with one Instance.
func (p *place) named(name string, changes ...change) *v1alpha.Instance {
	p.t.Helper()
	changes = append(changes, func(d *v1alpha.WorkloadDeployment) {
		d.Name = name
		d.Labels[v1alpha.LabelProjectUID], d.Labels[v1alpha.LabelProjectNamespace] = p.projectUID, p.projectNamespace
	})
	return p.instance(p.deployment(1, changes...), 0)
}

// start creates a WorkloadDeployment of this name, whose Instance the agent starts.
func (p *place) start(name string, changes ...change) *corev1.Pod {
	p.t.Helper()
	instance := p.named(name, changes...)
	p.reconcile(p.runtime(), instance.Name)
	p.reconcile(&isolation.Reconciler{Client: p.cached}, name)
	return p.storedPod(instance.Name)
}

// reaches reports whether the policies of the cell let one Pod connect to a TCP port of another, as a network plugin
// reads them.
func (f *fixture) reaches(from, to *corev1.Pod, port int32) bool {
	f.t.Helper()
	var policies networkingv1.NetworkPolicyList
	if err := f.direct.List(f.t.Context(), &policies, client.InNamespace(to.Namespace)); err != nil {
		f.t.Fatal(err)
	}
	isolated, admitted := false, false
	for i := range policies.Items {
		policy := &policies.Items[i]
		if !f.selects(&policy.Spec.PodSelector, to.Labels) {
			continue
		}
		isolated = true
		for _, rule := range policy.Spec.Ingress {
			ofPort := len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool {
				return *p.Protocol == corev1.ProtocolTCP && p.Port.IntVal == port
			})
			ofPeer := len(rule.From) == 0 || slices.ContainsFunc(rule.From, func(peer networkingv1.NetworkPolicyPeer) bool {
				return f.isPeer(&peer, policy.Namespace, from)
			})
			admitted = admitted || ofPort && ofPeer
		}
	}
	return !isolated || admitted
}

// isPeer reports whether a Pod is among the peers of a policy. The blocks of addresses in these tests have no Pod.
func (f *fixture) isPeer(peer *networkingv1.NetworkPolicyPeer, namespace string, pod *corev1.Pod) bool {
	switch {
	case peer.IPBlock != nil:
		return false
	case peer.NamespaceSelector == nil && namespace != pod.Namespace:
		return false
	case peer.NamespaceSelector != nil:
		of := &corev1.Namespace{}
		if err := f.direct.Get(f.t.Context(), client.ObjectKey{Name: pod.Namespace}, of); err != nil {
			f.t.Fatal(err)
		}
		if !f.selects(peer.NamespaceSelector, of.Labels) {
			return false
		}
	}
	return peer.PodSelector == nil || f.selects(peer.PodSelector, pod.Labels)
}

func (f *fixture) selects(selector *metav1.LabelSelector, of map[string]string) bool {
	f.t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		f.t.Fatal(err)
	}
	return parsed.Matches(labels.Set(of))
}

// TestNetworksAreApart: Pods reach Pods of their own network of their own project, in any of its namespaces, and others
// only as the rules of these allow.
func TestNetworksAreApart(t *testing.T) {
	f := newFixture(t)
	shop, bank, stranger := f.place("north", "shop"), f.place("north", "bank"), f.place("south", "shop")
	own := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}}
	block := networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}
	ports := func(number int32) []networkingv1.NetworkPolicyPort {
		return []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromInt32(number))}}
	}
	pods := map[string]*corev1.Pod{
		"red":            shop.start("red", in("red", "")),
		"another red":    shop.start("another", in("red", "")),
		"explicit red":   shop.start("explicit", in("red", "shop")),
		"blue":           shop.start("blue", in("blue", "")),
		"red from afar":  bank.start("afar", in("red", "shop")),
		"red of bank":    bank.start("red", in("red", "")),
		"red of another": stranger.start("red", in("red", "")),
		"restricted": shop.start("restricted", in("red", ""),
			restricting(networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{own}, Ports: ports(8080)})),
		"for a block": shop.start("block", in("red", ""),
			restricting(networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{block}})),
		"closed": shop.start("closed", in("red", ""), restricting()),
		"public": shop.start("public", in("red", ""), restricting(networkingv1.NetworkPolicyIngressRule{Ports: ports(80)})),
	}
	for _, test := range []struct {
		from, to string
		port     int32
		want     bool
	}{
		{"another red", "red", 80, true},
		{"explicit red", "red", 80, true},
		{"red", "explicit red", 80, true},
		{"red from afar", "red", 80, true},
		{"red", "red from afar", 80, true},
		{"blue", "red", 80, false},
		{"red", "blue", 80, false},
		{"red of bank", "red", 80, false},
		{"red", "red of bank", 80, false},
		{"red of bank", "red from afar", 80, false},
		{"red of another", "red", 80, false},
		{"red", "restricted", 8080, true},
		{"red from afar", "restricted", 8080, true},
		{"red", "restricted", 80, false},
		{"blue", "restricted", 8080, false},
		{"red of another", "restricted", 8080, false},
		{"restricted", "red", 80, true},
		{"red", "for a block", 80, false},
		{"red", "closed", 80, false},
		{"blue", "public", 80, true},
		{"red of another", "public", 80, true},
		{"red", "public", 8080, false},
	} {
		if got := f.reaches(pods[test.from], pods[test.to], test.port); got != test.want {
			t.Errorf("%s reaches port %d of %s: %t, want %t", test.from, test.port, test.to, got, test.want)
		}
	}
}

// TestServicesAreApart: a Service leads to Pods of its own Workload alone, and admits no connection that the network or
// the policy of the template does not.
func TestServicesAreApart(t *testing.T) {
	f := newFixture(t)
	shop, stranger := f.place("north", "shop"), f.place("south", "shop")
	own := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}}
	of := func(workload string) change {
		return func(d *v1alpha.WorkloadDeployment) {
			serving(1, 80)(d)
			d.Spec.WorkloadRef = v1alpha.WorkloadReference{Name: workload, UID: types.UID(workload + "-" + d.Namespace)}
		}
	}
	api := shop.start("api", of("api"))
	web := shop.start("web", of("web"))
	blue := shop.start("blue", of("blue"), in("blue", ""))
	closed := shop.start("closed", of("closed"), restricting())
	open := shop.start("open", of("open"), restricting(networkingv1.NetworkPolicyIngressRule{
		From: []networkingv1.NetworkPolicyPeer{own}, Ports: []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromInt32(8080))}},
	}))
	theirs := stranger.start("api", of("api"))
	for _, of := range []*place{shop, stranger} {
		for _, name := range []string{"api", "web", "blue", "closed", "open"} {
			of.reconcile(of.services(), name)
		}
	}

	for _, test := range []struct {
		name     string
		from, to *corev1.Pod
		port     int32
		want     bool
	}{
		{"Workloads of a project", web, api, 8080, true},
		{"the other way", api, web, 8080, true},
		{"a port that the template opens", web, open, 8080, true},
		{"a port that it does not open", web, open, 9090, false},
		{"a template that opens none", web, closed, 8080, false},
		{"another network", blue, api, 8080, false},
		{"another project", theirs, api, 8080, false},
		{"another project, the other way", api, theirs, 8080, false},
		{"another project, an open port", theirs, open, 8080, false},
	} {
		if got := f.reaches(test.from, test.to, test.port); got != test.want {
			t.Errorf("%s: reaches %t, want %t", test.name, got, test.want)
		}
	}
	for pod, workload := range map[*corev1.Pod]string{api: "api", web: "web", theirs: "api"} {
		service := &corev1.Service{}
		if err := f.direct.Get(t.Context(), client.ObjectKey{Namespace: pod.Namespace, Name: workload}, service); err != nil {
			t.Fatal(err)
		}
		selector := labels.SelectorFromSet(service.Spec.Selector)
		for _, other := range []*corev1.Pod{api, web, blue, closed, open, theirs} {
			if got := selector.Matches(labels.Set(other.Labels)); got != (other == pod) {
				t.Errorf("Service %s in %s selects Pod %s in %s: %t", workload, pod.Namespace, other.Name, other.Namespace, got)
			}
		}
	}
}
