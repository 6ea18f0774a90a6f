// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestTable(t *testing.T) {
	subnet, err := SubnetOf(LinkPrefix + "7")
	if err != nil {
		t.Fatal(err)
	}
	pod := func(namespace, name, address string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"name": name}},
			Status:     corev1.PodStatus{PodIP: address, Phase: corev1.PodRunning},
		}
	}
	c := &cluster{
		namespaces: []*corev1.Namespace{
			{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"project": "x"}}},
			{ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: map[string]string{"project": "x"}}},
			{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{"project": "y"}}},
		},
		pods: []*corev1.Pod{
			pod("a", "web", "10.213.7.130"), pod("b", "web", "10.213.7.131"), pod("c", "web", "10.213.7.132"),
			pod("a", "elsewhere", "10.213.8.130"), pod("a", "waits", ""),
		},
	}
	policy := func(rules ...networkingv1.NetworkPolicyIngressRule) *networkingv1.NetworkPolicy {
		return &networkingv1.NetworkPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a"},
			Spec:       networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, Ingress: rules},
		}
	}
	ofProject := networkingv1.NetworkPolicyPeer{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"project": "x"}},
		PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"name": "web"}},
	}
	all := networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{"10.0.0.0/8"}}}
	port := []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromInt32(80))}, {Port: new(intstr.FromInt32(90)), EndPort: new(int32(99))}}
	for name, test := range map[string]struct {
		policies []*networkingv1.NetworkPolicy
		want     []string
	}{
		"no policy isolates nothing": {nil, nil},
		"a policy without rules":     {[]*networkingv1.NetworkPolicy{policy()}, []string{"drop"}},
		"a rule without peers and ports": {
			[]*networkingv1.NetworkPolicy{policy(networkingv1.NetworkPolicyIngressRule{})}, []string{"accept", "drop"},
		},
		"the Pods of a project": {
			[]*networkingv1.NetworkPolicy{
				policy(), policy(networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{ofProject}}),
			},
			[]string{"ip saddr { 10.213.7.130, 10.213.7.131 } accept", "drop"},
		},
		"a port for all": {
			[]*networkingv1.NetworkPolicy{policy(networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{all}, Ports: port})},
			[]string{
				"ip saddr 0.0.0.0/0 ip saddr != { 10.0.0.0/8 } tcp dport 80 accept",
				"ip saddr 0.0.0.0/0 ip saddr != { 10.0.0.0/8 } tcp dport 90-99 accept", "drop",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.policies = test.policies
			table := c.table(subnet)
			for _, address := range []string{"10.213.7.131", "10.213.8.130"} {
				if strings.Contains(table, "daddr "+address) {
					t.Errorf("%s is isolated:\n%s", address, table)
				}
			}
			if jumps := strings.Contains(table, "ip daddr 10.213.7.130 jump pod0"); jumps != (len(test.want) > 0) {
				t.Errorf("the Pod is isolated: %t\n%s", jumps, table)
			}
			if len(test.want) > 0 && !strings.Contains(table, "chain pod0 {\n    "+strings.Join(test.want, "\n    ")+"\n  }") {
				t.Errorf("the rules are not %q:\n%s", test.want, table)
			}
		})
	}
}
