// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// NamespacePolicy is the name of the policy of a namespace.
const NamespacePolicy = "karmada-compute-isolation"

// labels are on every policy of this package. The cache selects by them.
func labels() map[string]string {
	return map[string]string{v1alpha.LabelManagedBy: v1alpha.ManagedByCell}
}

// namespacePolicy denies every connection to the Pods of a namespace. templatePolicy adds the connections that a
// template admits: policies add up.
func namespacePolicy(namespace string) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: NamespacePolicy, Labels: labels()},
		Spec:       networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}},
	}
}

// PodLabels are the labels by which policies select the Pod of an Instance. They depend on the deployment: without a
// deployment (nil), they omit the network.
func PodLabels(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) map[string]string {
	result := map[string]string{}
	if hash := instance.TemplateHash(); hash != "" {
		result[v1alpha.LabelTemplateHash] = hash
	}
	if deployment == nil {
		return result
	}
	if network := naming.InstanceNetworkLabel(deployment, &instance.Spec); network != "" {
		result[v1alpha.LabelNetwork] = network
	}
	return result
}

// networkPeer selects the Pods of the network of a template, in every namespace of its project. A deployment of no
// project has one namespace.
func networkPeer(deployment *v1alpha.WorkloadDeployment, spec *v1alpha.InstanceSpec) networkingv1.NetworkPolicyPeer {
	peer := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{
		MatchLabels: map[string]string{v1alpha.LabelNetwork: naming.InstanceNetworkLabel(deployment, spec)},
	}}
	if uid := deployment.Labels[v1alpha.LabelProjectUID]; uid != "" {
		peer.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha.LabelProjectUID: uid}}
	}
	return peer
}

// templatePolicy admits the connections that a template admits, to the Pods of this template only: during a rollout,
// each Pod has the rules of its own template. It is nil for a template that admits no connection.
func templatePolicy(deployment *v1alpha.WorkloadDeployment, hash string, spec *v1alpha.InstanceSpec) *networkingv1.NetworkPolicy {
	rules := ingress(spec, networkPeer(deployment, spec))
	if len(rules) == 0 {
		return nil
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: deployment.Namespace, Name: policyName(deployment, hash), Labels: labels(),
			OwnerReferences: []metav1.OwnerReference{deployment.ControllerReference()},
		},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{
				v1alpha.LabelDeploymentName: deployment.Name, v1alpha.LabelTemplateHash: hash,
			}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress:     rules,
		},
	}
}

// policyName is the name of the policy of a template.
func policyName(deployment *v1alpha.WorkloadDeployment, hash string) string {
	return deployment.Name + "-" + hash
}

// ingress are the rules of the first interface: a Pod has one. Without a policy of its own, the interface admits its
// network; with one, only the peers that its rules name.
func ingress(spec *v1alpha.InstanceSpec, network networkingv1.NetworkPolicyPeer) []networkingv1.NetworkPolicyIngressRule {
	if len(spec.NetworkInterfaces) == 0 {
		return nil
	}
	if spec.NetworkInterfaces[0].NetworkPolicy == nil {
		return []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{network}}}
	}
	var rules []networkingv1.NetworkPolicyIngressRule
	for i := range spec.NetworkInterfaces[0].NetworkPolicy.Ingress {
		wanted := spec.NetworkInterfaces[0].NetworkPolicy.Ingress[i].DeepCopy()
		rule := networkingv1.NetworkPolicyIngressRule{From: peers(wanted.From, network)}
		for j := range wanted.Ports {
			if port, ok := numbered(&wanted.Ports[j], spec); ok {
				rule.Ports = append(rule.Ports, port)
			}
		}
		// Skip a rule whose peers or ports no Pod can match: an empty list would admit everything.
		if len(rule.Ports) == 0 && len(wanted.Ports) > 0 || len(rule.From) == 0 && len(wanted.From) > 0 {
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

// peers are the wanted peers that admission accepts: blocks of addresses and the network of the template. Other
// selectors would select Pods and namespaces of the cell, which are not the consumer's.
func peers(wanted []networkingv1.NetworkPolicyPeer, network networkingv1.NetworkPolicyPeer) []networkingv1.NetworkPolicyPeer {
	var result []networkingv1.NetworkPolicyPeer
	for i := range wanted {
		switch peer := &wanted[i]; {
		case v1alpha.IsOwnNetwork(peer):
			result = append(result, network)
		case peer.IPBlock != nil && peer.PodSelector == nil && peer.NamespaceSelector == nil:
			result = append(result, *peer)
		}
	}
	return result
}

// numbered is a port by its number and protocol: a Pod leaves out names that are too long for it. ok is false for a
// name that no container has.
func numbered(port *networkingv1.NetworkPolicyPort, spec *v1alpha.InstanceSpec) (result networkingv1.NetworkPolicyPort, ok bool) {
	protocol := ptr.Deref(port.Protocol, corev1.ProtocolTCP)
	result = networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: port.Port, EndPort: port.EndPort}
	if port.Port == nil || port.Port.Type == intstr.Int {
		return result, true
	}
	for _, container := range spec.Runtime.Sandbox.Running() {
		for _, named := range container.Ports {
			if named.Name == port.Port.StrVal && ptr.Deref(named.Protocol, corev1.ProtocolTCP) == protocol {
				result.Port = new(intstr.FromInt32(named.Port))
				return result, true
			}
		}
	}
	return result, false
}
