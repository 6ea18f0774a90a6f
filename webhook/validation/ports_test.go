// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestPorts(t *testing.T) {
	port := containerPath + "ports[0]."
	set := func(ports ...v1alpha.NamedPort) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).Ports = ports }
	}
	other := func(port v1alpha.NamedPort) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			addContainer(w, v1alpha.SandboxContainer{Name: "b", Image: "docker.io/b:1", Ports: []v1alpha.NamedPort{port}})
		}
	}
	udp, tcp := new(corev1.ProtocolUDP), new(corev1.ProtocolTCP)
	checkRules(t, []rule{
		{"65535", nil, set(v1alpha.NamedPort{Name: "a", Port: 65535, Protocol: new(corev1.ProtocolSCTP)}), nil},
		{"65536", nil, set(v1alpha.NamedPort{Name: "a", Port: 65536}), []string{port + "port " + invalid}},
		{"0", nil, set(v1alpha.NamedPort{Name: "a"}), []string{port + "port " + invalid}},
		{"name", nil, set(v1alpha.NamedPort{Name: "a_b", Port: 1}), []string{port + "name " + invalid}},
		{"name of 15", nil, set(v1alpha.NamedPort{Name: "a23456789012345", Port: 1}), nil},
		{"name of 16", nil, set(v1alpha.NamedPort{Name: "a234567890123456", Port: 1}), []string{port + "name " + invalid}},
		{"name of digits", nil, set(v1alpha.NamedPort{Name: "80", Port: 1}), []string{port + "name " + invalid}},
		{"no name", nil, set(v1alpha.NamedPort{Port: 1}), []string{port + "name " + required}},
		{
			"protocol", nil, set(v1alpha.NamedPort{Name: "a", Port: 1, Protocol: new(corev1.Protocol("ICMP"))}),
			[]string{port + "protocol " + unsupported},
		},
		{
			"same name", nil, set(v1alpha.NamedPort{Name: "a", Port: 1}, v1alpha.NamedPort{Name: "a", Port: 2}),
			[]string{containerPath + "ports[1].name " + duplicate},
		},
		{"same number", nil, set(v1alpha.NamedPort{Name: "a", Port: 1}, v1alpha.NamedPort{Name: "b", Port: 1, Protocol: tcp}), nil},
		{
			"same number, other protocol", nil, set(v1alpha.NamedPort{Name: "a", Port: 1},
				v1alpha.NamedPort{Name: "b", Port: 1, Protocol: udp}), nil,
		},
		{"another container", nil, other(v1alpha.NamedPort{Name: "b", Port: 81}), nil},
		{"same name in another container", nil, other(v1alpha.NamedPort{Name: "http", Port: 81}), nil},
		{"same number in another container", nil, other(v1alpha.NamedPort{Name: "b", Port: 80}), nil},
		{"same name in a virtual machine", machine, func(w *v1alpha.Workload) {
			vm(w).Ports = append(vm(w).Ports, v1alpha.NamedPort{Name: "ssh", Port: 23})
		}, []string{machinePath + "ports[1].name " + duplicate}},
	})
}

// TestPortWarnings: as for a Pod, a name or a number that another port has is a warning.
func TestPortWarnings(t *testing.T) {
	w := sandbox()
	addContainer(w, v1alpha.SandboxContainer{Name: "b", Image: "docker.io/b:1", Ports: []v1alpha.NamedPort{
		{Name: "http", Port: 81},
		{Name: "dns", Port: 80, Protocol: new(corev1.ProtocolUDP)},
		{Name: "web", Port: 80, Protocol: new(corev1.ProtocolTCP)},
	}})
	w.Spec.Template.Spec.Runtime.Sandbox.InitContainers = []v1alpha.SandboxContainer{
		{Name: "i", Image: "docker.io/i:1", Ports: []v1alpha.NamedPort{{Name: "http", Port: 80}}},
	}
	want := []string{
		sandboxPath + `containers[1].ports[0].name: port "http" is also in ` + sandboxPath +
			"containers[0].ports[0]: network policies that name it mean the first one",
		sandboxPath + "containers[1].ports[2].port: 80/TCP is also in " + sandboxPath +
			"containers[0].ports[0]: the containers of an Instance share one network",
	}
	if got := Warnings(w); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestNetworkInterfaces(t *testing.T) {
	name := specPath + "networkInterfaces[0].network.name "
	face := func(change func(*v1alpha.InstanceNetworkInterface)) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { change(&w.Spec.Template.Spec.NetworkInterfaces[0]) }
	}
	checkRules(t, []rule{
		{
			"none", nil, func(w *v1alpha.Workload) { w.Spec.Template.Spec.NetworkInterfaces = nil },
			[]string{specPath + "networkInterfaces " + required},
		},
		{"two", nil, func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.NetworkInterfaces = append(w.Spec.Template.Spec.NetworkInterfaces,
				v1alpha.InstanceNetworkInterface{Network: v1alpha.NetworkReference{Name: "a.b"}})
		}, []string{specPath + "networkInterfaces " + tooMany}},
		{"in another namespace", nil, face(func(i *v1alpha.InstanceNetworkInterface) { i.Network.Namespace = "shared" }), nil},
		{
			"in no namespace", nil, face(func(i *v1alpha.InstanceNetworkInterface) { i.Network.Namespace = "a.b" }),
			[]string{specPath + "networkInterfaces[0].network.namespace " + invalid},
		},
		{"its name", nil, face(func(i *v1alpha.InstanceNetworkInterface) { i.Name = "eth0" }), nil},
		{
			"what no cell honours", nil, face(func(i *v1alpha.InstanceNetworkInterface) {
				i.Name, i.ReclaimPolicy, i.IPFamilies = "eth1", "Retain", []corev1.IPFamily{"IPv6"}
				i.Addresses = []v1alpha.InterfaceAddress{{Class: "public"}}
			}),
			[]string{
				specPath + "networkInterfaces[0].name " + unsupported, specPath + "networkInterfaces[0].ipFamilies " + forbidden,
				specPath + "networkInterfaces[0].addresses " + forbidden, specPath + "networkInterfaces[0].reclaimPolicy " + forbidden,
			},
		},
		{"no name", nil, func(w *v1alpha.Workload) { w.Spec.Template.Spec.NetworkInterfaces[0].Network.Name = "" }, []string{name + required}},
		{
			"wrong name", nil, func(w *v1alpha.Workload) { w.Spec.Template.Spec.NetworkInterfaces[0].Network.Name = "a/b" },
			[]string{name + invalid},
		},
	})
}

func TestIngressPorts(t *testing.T) {
	at := ingressPath + "ports[0]."
	set := func(port networkingv1.NetworkPolicyPort) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { ingress(w).Ports[0] = port }
	}
	checkRules(t, []rule{
		{"number", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(80))}), nil},
		{"name", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromString("http"))}), nil},
		{
			"name that no container has", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromString("gone"))}),
			[]string{at + "port " + notFound},
		},
		{
			"name of another protocol", nil, set(networkingv1.NetworkPolicyPort{
				Port: new(intstr.FromString("http")), Protocol: new(corev1.ProtocolUDP),
			}),
			[]string{at + "port " + notFound},
		},
		{"0", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(0))}), []string{at + "port " + invalid}},
		{"wrong name", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromString("HTTP"))}), []string{at + "port " + invalid}},
		{"protocol", nil, set(networkingv1.NetworkPolicyPort{Protocol: new(corev1.Protocol("tcp"))}), []string{at + "protocol " + unsupported}},
		{"range", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(80)), EndPort: new(int32(80))}), nil},
		{
			"range backwards", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(80)), EndPort: new(int32(79))}),
			[]string{at + "endPort " + invalid},
		},
		{
			"range too far", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(80)), EndPort: new(int32(65536))}),
			[]string{at + "endPort " + invalid},
		},
		{
			"range from a name", nil, set(networkingv1.NetworkPolicyPort{Port: new(intstr.FromString("http")), EndPort: new(int32(80))}),
			[]string{at + "endPort " + forbidden},
		},
		{"range from nothing", nil, set(networkingv1.NetworkPolicyPort{EndPort: new(int32(80))}), []string{at + "endPort " + forbidden}},
	})
}

func TestIngressPeers(t *testing.T) {
	at := ingressPath + "from[0]."
	set := func(peer networkingv1.NetworkPolicyPeer) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { ingress(w).From[0] = peer }
	}
	block := func(cidr string, except ...string) func(w *v1alpha.Workload) {
		return set(networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr, Except: except}})
	}
	checkRules(t, []rule{
		{"everybody", nil, func(w *v1alpha.Workload) { ingress(w).From = nil }, nil},
		{"IPv6", nil, block("2001:db8::/32", "2001:db8:1::/48"), nil},
		{"nothing", nil, set(networkingv1.NetworkPolicyPeer{}), []string{at + "ipBlock " + required}},
		{"the same network", nil, set(networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}}), nil},
		{
			"pods by label", nil, set(networkingv1.NetworkPolicyPeer{
				PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}),
			[]string{at + "podSelector " + forbidden},
		},
		{
			"pods by expression", nil,
			set(networkingv1.NetworkPolicyPeer{
				PodSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Exists"}}},
			}),
			[]string{at + "podSelector " + forbidden},
		},
		{
			"the same network and a block", nil,
			set(networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}, IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}),
			[]string{at + "podSelector " + forbidden},
		},
		{
			"the same network in namespaces", nil,
			set(networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}}),
			[]string{at + "podSelector " + forbidden, at + "namespaceSelector " + forbidden},
		},
		{
			"namespaces", nil, set(networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{}}),
			[]string{at + "namespaceSelector " + forbidden},
		},
		{"no CIDR", nil, block(""), []string{at + "ipBlock.cidr " + required}},
		{"an address", nil, block("10.0.0.1"), []string{at + "ipBlock.cidr " + invalid}},
		{"too long a prefix", nil, block("10.0.0.0/33"), []string{at + "ipBlock.cidr " + invalid}},
		{"IPv4 in IPv6", nil, block("::ffff:10.0.0.0/104"), []string{at + "ipBlock.cidr " + invalid}},
		{"except no CIDR", nil, block("10.0.0.0/8", "10.1"), []string{at + "ipBlock.except[0] " + invalid}},
		{"except outside", nil, block("10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/16"), []string{at + "ipBlock.except[1] " + invalid}},
		{"except all of it", nil, block("10.0.0.0/8", "10.0.0.0/8"), []string{at + "ipBlock.except[0] " + invalid}},
		{"except another family", nil, block("10.0.0.0/8", "2001:db8::/32"), []string{at + "ipBlock.except[0] " + invalid}},
	})
}
