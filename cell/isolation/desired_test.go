// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

type (
	rule = networkingv1.NetworkPolicyIngressRule
	peer = networkingv1.NetworkPolicyPeer
	port = networkingv1.NetworkPolicyPort
)

func TestIngress(t *testing.T) {
	tcp, udp := corev1.ProtocolTCP, corev1.ProtocolUDP
	block := peer{IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}
	network := peer{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha.LabelNetwork: "shop.red"}}}
	everyPod := peer{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	everyNamespace := peer{NamespaceSelector: &metav1.LabelSelector{}, IPBlock: block.IPBlock}
	named := func(name string) *intstr.IntOrString { return new(intstr.FromString(name)) }
	number := func(n int32) *intstr.IntOrString { return new(intstr.FromInt32(n)) }
	tests := map[string]struct{ rules, want []rule }{
		"nothing":          {nil, nil},
		"the same network": {[]rule{{From: []peer{{PodSelector: &metav1.LabelSelector{}}}}}, []rule{{From: []peer{network}}}},
		"and a block beside it": {
			[]rule{{From: []peer{block, {PodSelector: &metav1.LabelSelector{}}}}}, []rule{{From: []peer{block, network}}},
		},
		"from everywhere": {[]rule{{}}, []rule{{}}},
		"a block":         {[]rule{{From: []peer{block}}}, []rule{{From: []peer{block}}}},
		"a number": {
			[]rule{{Ports: []port{{Port: number(80), EndPort: new(int32(90))}}}},
			[]rule{{Ports: []port{{Protocol: &tcp, Port: number(80), EndPort: new(int32(90))}}}},
		},
		"every port of a protocol": {[]rule{{Ports: []port{{Protocol: &udp}}}}, []rule{{Ports: []port{{Protocol: &udp}}}}},
		"a name that a Pod may have": {
			[]rule{{Ports: []port{{Port: named("http")}}}}, []rule{{Ports: []port{{Protocol: &tcp, Port: number(8080)}}}},
		},
		"a name that is too long for a Pod": {
			[]rule{{Ports: []port{{Protocol: &udp, Port: named("name-of-more-than-15")}}}},
			[]rule{{Ports: []port{{Protocol: &udp, Port: number(53)}}}},
		},
		"a name of another protocol": {[]rule{{Ports: []port{{Protocol: &udp, Port: named("http")}}}}, nil},
		"a name that nobody has":     {[]rule{{Ports: []port{{Port: named("gone")}}}}, nil},
		"one of two names": {
			[]rule{{Ports: []port{{Port: named("gone")}, {Port: named("http")}}}}, []rule{{Ports: []port{{Protocol: &tcp, Port: number(8080)}}}},
		},
		"Pods and namespaces of the cell":       {[]rule{{From: []peer{everyPod, everyNamespace}}}, nil},
		"and a block":                           {[]rule{{From: []peer{everyPod, block}}}, []rule{{From: []peer{block}}}},
		"several rules, one of them impossible": {[]rule{{From: []peer{everyPod}}, {From: []peer{block}}}, []rule{{From: []peer{block}}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &v1alpha.InstanceSpec{
				Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{
					Ports: []v1alpha.NamedPort{{Name: "http", Port: 8080}, {Name: "name-of-more-than-15", Port: 53, Protocol: &udp}},
				}}}},
				NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{NetworkPolicy: &v1alpha.InterfaceNetworkPolicy{Ingress: test.rules}}},
			}
			before := spec.DeepCopy()
			if got := ingress(spec, network); !equality.Semantic.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if !equality.Semantic.DeepEqual(before, spec) {
				t.Error("the template was changed")
			}
		})
	}
	own := []rule{{From: []peer{network}}}
	if got := ingress(&v1alpha.InstanceSpec{NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{}}},
		network); !equality.Semantic.DeepEqual(got, own) {
		t.Errorf("without a policy, got %+v", got)
	}
	if got := ingress(&v1alpha.InstanceSpec{}, network); got != nil {
		t.Errorf("without an interface, got %+v", got)
	}
}
