// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// cluster holds the objects that determine the policies of a cell.
type cluster struct {
	namespaces []*corev1.Namespace
	pods       []*corev1.Pod
	policies   []*networkingv1.NetworkPolicy
}

// table returns a table of nftables that enforces the ingress policies of a node's Pods: egress is not limited.
// Connections from this machine and from the node are always admitted, as Kubernetes requires for probes.
func (c *cluster) table(subnet Subnet) string {
	text := &strings.Builder{}
	// A table must exist to be deleted. The file is one transaction.
	text.WriteString("table ip policies {}\ndelete table ip policies\ntable ip policies {\n")
	dispatch := []string{
		"type filter hook forward priority 0; policy accept;", "ct state established,related accept",
		fmt.Sprintf("ip saddr { %s, %s } accept", subnet.Machine.Addr(), subnet.Node.Addr()),
	}
	for i, pod := range c.pods {
		address, err := netip.ParseAddr(pod.Status.PodIP)
		if err != nil || !subnet.Pods.Contains(address) || ended(pod) {
			continue
		}
		rules, isolated := c.rulesOf(pod)
		if !isolated {
			continue
		}
		chain := fmt.Sprintf("pod%d", i)
		dispatch = append(dispatch, fmt.Sprintf("ip daddr %s jump %s", address, chain))
		writeChain(text, chain, append(rules, "drop"))
	}
	writeChain(text, "forward", dispatch)
	text.WriteString("}\n")
	return text.String()
}

func writeChain(text *strings.Builder, name string, rules []string) {
	_, _ = fmt.Fprintf(text, "  chain %s {\n    %s\n  }\n", name, strings.Join(rules, "\n    ")) // a Builder does not fail
}

// ended reports whether the address of a Pod may already belong to another Pod.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// rulesOf returns the rules of the policies that select a Pod, and whether there is such a policy.
func (c *cluster) rulesOf(pod *corev1.Pod) (rules []string, isolated bool) {
	for _, policy := range c.policies {
		if policy.Namespace != pod.Namespace || !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) ||
			!selects(&policy.Spec.PodSelector, pod.Labels) {
			continue
		}
		isolated = true
		for i := range policy.Spec.Ingress {
			rules = append(rules, c.rulesFor(policy, &policy.Spec.Ingress[i])...)
		}
	}
	return rules, isolated
}

// rulesFor returns a rule for each pair of a source and a port.
func (c *cluster) rulesFor(policy *networkingv1.NetworkPolicy, ingress *networkingv1.NetworkPolicyIngressRule) []string {
	sources := []string{""}
	if len(ingress.From) > 0 {
		sources = nil
		for i := range ingress.From {
			sources = append(sources, c.sources(policy.Namespace, &ingress.From[i])...)
		}
	}
	ports := []string{""}
	if len(ingress.Ports) > 0 {
		ports = nil
		for i := range ingress.Ports {
			ports = append(ports, matchPort(&ingress.Ports[i]))
		}
	}
	var rules []string
	for _, source := range sources {
		for _, port := range ports {
			rules = append(rules, source+port+"accept")
		}
	}
	return rules
}

// matchPort matches a port by its number: port names are not supported.
func matchPort(port *networkingv1.NetworkPolicyPort) string {
	protocol := strings.ToLower(string(ptr.Deref(port.Protocol, corev1.ProtocolTCP)))
	switch {
	case port.Port == nil:
		return "meta l4proto " + protocol + " "
	case port.EndPort != nil:
		return fmt.Sprintf("%s dport %d-%d ", protocol, port.Port.IntVal, *port.EndPort)
	}
	return fmt.Sprintf("%s dport %d ", protocol, port.Port.IntVal)
}

// sources matches the addresses of a peer.
func (c *cluster) sources(namespace string, peer *networkingv1.NetworkPolicyPeer) []string {
	if peer.IPBlock != nil {
		match := "ip saddr " + peer.IPBlock.CIDR + " "
		if len(peer.IPBlock.Except) > 0 {
			match += "ip saddr != { " + strings.Join(peer.IPBlock.Except, ", ") + " } "
		}
		return []string{match}
	}
	in := map[string]bool{namespace: peer.NamespaceSelector == nil}
	for _, found := range c.namespaces {
		if peer.NamespaceSelector != nil {
			in[found.Name] = selects(peer.NamespaceSelector, found.Labels)
		}
	}
	var addresses []string
	for _, pod := range c.pods {
		if in[pod.Namespace] && pod.Status.PodIP != "" && !ended(pod) && (peer.PodSelector == nil || selects(peer.PodSelector, pod.Labels)) {
			addresses = append(addresses, pod.Status.PodIP)
		}
	}
	if len(addresses) == 0 {
		return nil
	}
	return []string{"ip saddr { " + strings.Join(addresses, ", ") + " } "}
}

// selects reports whether a selector selects labels. An invalid one selects nothing.
func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(of))
}
