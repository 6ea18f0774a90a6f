// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CityEndpoint holds the addresses of a Workload with spec.service.exposure LoadBalancer in one city.
type CityEndpoint struct {
	// city of the addresses.
	// +required
	City string `json:"city"`

	// addresses of the load balancers of the city's cells. While the city serves, they are the addresses of the cells
	// that serve.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Addresses []EndpointAddress `json:"addresses,omitempty"`

	// ports at the addresses.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Ports []EndpointPort `json:"ports,omitempty"`

	// unroutedHostnames are the DNS names that no listener of the Gateway of a cell has, divided by commas: they do not have the
	// addresses of the city.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	UnroutedHostnames string `json:"unroutedHostnames,omitempty"`

	// serving is true if a cell of the city has an address and an Available Instance, and the hub knows both. Without it,
	// the city does not serve: reason and message have the cause.
	// +optional
	Serving bool `json:"serving,omitempty"`

	// since is when serving changed last.
	// +optional
	Since metav1.Time `json:"since,omitempty"`

	// reason is why the city does not serve.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message has the details of the reason, and the addresses that are refused.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// EndpointLeaving is the reason of an endpoint whose city is being removed: its Instances still run for drainSeconds. It is also
// the reason of a cell whose Instances Karmada moves to other cells.
const EndpointLeaving = "TrafficLeaves"

// EndpointAddressType is the form of an address.
// +kubebuilder:validation:Enum=IPAddress;Hostname
type EndpointAddressType string

const (
	// EndpointAddressIP is an IPv4 or IPv6 address.
	EndpointAddressIP EndpointAddressType = "IPAddress"
	// EndpointAddressHostname is a DNS name.
	EndpointAddressHostname EndpointAddressType = "Hostname"
)

// EndpointAddress is an address of a load balancer.
type EndpointAddress struct {
	// type is IPAddress or Hostname.
	// +required
	Type EndpointAddressType `json:"type"`

	// value is the address.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Value string `json:"value"`
}

// EndpointPort is a port at the addresses of a city.
type EndpointPort struct {
	// name of the port in spec.service.ports.
	// +optional
	Name string `json:"name,omitempty"`

	// port is its number.
	// +required
	Port int32 `json:"port"`

	// protocol is TCP, UDP or SCTP.
	// +required
	Protocol corev1.Protocol `json:"protocol"`
}
