// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// InstanceNetworkInterface attaches an Instance to a network.
type InstanceNetworkInterface struct {
	// name of the interface in the Instance: eth0, which is the default. Admission refuses others, since the cells give a
	// sandbox one interface of that name.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	Name string `json:"name,omitempty"`

	// network to attach to.
	// +required
	Network NetworkReference `json:"network"`

	// networkPolicy selects the peers that may connect to the Instance. Default: every Instance of the same network.
	// +optional
	NetworkPolicy *InterfaceNetworkPolicy `json:"networkPolicy,omitempty"`

	// ipFamilies is refused by admission: no cell honours it yet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	IPFamilies []corev1.IPFamily `json:"ipFamilies,omitempty"`

	// addresses is refused by admission: no cell honours it yet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Addresses []InterfaceAddress `json:"addresses,omitempty"`

	// reclaimPolicy of the addresses is refused by admission: no cell honours it yet.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
}

// InterfaceAddress is an address that an interface asks for.
type InterfaceAddress struct {
	// class of the address.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Class string `json:"class,omitempty"`
}

// NetworkReference names a network in the project.
type NetworkReference struct {
	// name of the network.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace of the network in the project; by default the Workload's namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// InterfaceNetworkPolicy is the network policy of an interface.
type InterfaceNetworkPolicy struct {
	// ingress rules. Peers that no rule names may not connect, even from the same network: without rules, no peer may. A
	// peer is an ipBlock, or an empty podSelector, which stands for the Instances of the same network. A rule without
	// peers admits everything.
	// +optional
	// +listType=atomic
	Ingress []networkingv1.NetworkPolicyIngressRule `json:"ingress,omitempty"`
}

// IsOwnNetwork reports whether a peer of an ingress rule stands for the Instances of the same network.
func IsOwnNetwork(peer *networkingv1.NetworkPolicyPeer) bool {
	return peer.PodSelector != nil && len(peer.PodSelector.MatchLabels)+len(peer.PodSelector.MatchExpressions) == 0 &&
		peer.NamespaceSelector == nil && peer.IPBlock == nil
}
