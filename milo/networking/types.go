// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package networking has the kinds of networking.datumapis.com by which networks are brought to locations, as far as
// the add-on reads and writes them. It is apart from package milo so that the controllers of the hub may import it.
//
// +kubebuilder:object:generate=true
package networking

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of networks and their related kinds.
var GroupVersion = schema.GroupVersion{Group: "networking.datumapis.com", Version: "v1alpha"}

// KindNetworkBinding is the kind of a NetworkBinding.
const KindNetworkBinding = "NetworkBinding"

// ConditionReady of a NetworkBinding: the network is there in the location.
const ConditionReady = "Ready"

// NetworkReference names a network.
type NetworkReference struct {
	// Namespace of the network; "": the binding's namespace.
	Namespace string `json:"namespace,omitempty"`
	// Name of the network.
	Name string `json:"name"`
}

// LocationReference names a location.
type LocationReference struct {
	// Name as in spec.locationRef of a LocationBinding.
	Name string `json:"name"`
}

// Consumer is the object that needs a network in a location.
type Consumer struct {
	// APIGroup of the consumer.
	APIGroup string `json:"apiGroup,omitempty"`
	// Kind of the consumer.
	Kind string `json:"kind"`
	// Name of the consumer.
	Name string `json:"name"`
}

// NetworkBindingSpec names the network and the location that needs it. Neither ever changes.
type NetworkBindingSpec struct {
	// Network that is needed.
	Network NetworkReference `json:"network"`
	// Location is the location that needs the network.
	Location LocationReference `json:"location"`
	// Consumer is the object that needs the network.
	Consumer *Consumer `json:"consumer,omitempty"`
}

// NetworkBindingStatus is the answer of the network service.
type NetworkBindingStatus struct {
	// Conditions hold Ready. Do not rely on its transition time.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true

// NetworkBinding asks for a network in a location. It is namespaced in the project.
type NetworkBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NetworkBindingSpec   `json:"spec"`
	Status NetworkBindingStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// NetworkBindingList is a list of NetworkBindings.
type NetworkBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NetworkBinding `json:"items"`
}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &NetworkBinding{}, &NetworkBindingList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
