// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// WorkloadService gives the Instances of a Workload one name in each cell: a Service that is named as the Workload. Its
// fields have the names, the meaning and the defaults that they have in a Service of Kubernetes.
// +kubebuilder:validation:XValidation:rule="has(self.headless) && self.headless || has(self.ports) && size(self.ports) > 0",message="must have at least one port unless headless is true",fieldPath=".ports",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.ports) || size(self.ports) < 2 || self.ports.all(p, has(p.name))",message="each of several ports must have a name",fieldPath=".ports",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, !has(p.name) || self.ports.exists_one(q, has(q.name) && q.name == p.name))",message="two ports must not have the same name",fieldPath=".ports",reason=FieldValueDuplicate
// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, self.ports.exists_one(q, q.port == p.port && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="two ports must not have the same number and protocol",fieldPath=".ports",reason=FieldValueDuplicate
// +kubebuilder:validation:XValidation:rule="!has(self.exposure) || self.exposure == 'Cluster' || !(has(self.headless) && self.headless)",message="must be Cluster with headless: a load balancer needs a Service with an address",fieldPath=".exposure"
type WorkloadService struct {
	// ports of the Service. Only a headless Service may have none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Ports []ServicePort `json:"ports,omitempty"`

	// headless gives the Service no address: its name has the addresses of all Instances, and each Instance has a name of
	// its own, <instance>.<workload>, as the Pods of a StatefulSet. Without it, it is false.
	// +optional
	Headless bool `json:"headless,omitempty"`

	// publishNotReadyAddresses lets the Service have Instances that are not Ready, too: for peers that find each other
	// before they are Ready. Without it, it is false.
	// +optional
	PublishNotReadyAddresses bool `json:"publishNotReadyAddresses,omitempty"`

	// exposure is from where the Service is reached. Cluster: from its cell. LoadBalancer: also from outside, at addresses
	// that a load balancer of each cell gives; status.endpoints has them. Gateway: also from outside, by HTTP, at the Gateway
	// that the operator has named for each cell, and by the names of the Workload. Without it, it is Cluster.
	// +optional
	Exposure ServiceExposure `json:"exposure,omitempty"`

	// drainSeconds is how long a city still serves after it has left status.endpoints and its DNS names, because its placement
	// or city was removed or scaled to no Instances, or the Workload is deleted, no longer exposed or exposed otherwise: clients
	// have this time to follow. It needs another exposure than Cluster. Without it, it is 30 or, if the operator gives
	// Workloads DNS names, 10 more than their TTL if that is more.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	DrainSeconds *int32 `json:"drainSeconds,omitempty"`

	// hostnames are DNS names that clients reach the Workload by, beside the name that the operator's pattern gives it.
	// Each must be in a domain that the operator allows for the project. They need another exposure than
	// Cluster. status.hostnames has the names that the Workload has.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Hostnames []string `json:"hostnames,omitempty"`

	// probe is the request by which the hub asks whether an address of the Workload answers, if the operator has turned this on. It
	// needs another exposure than Cluster. Without it, an address answers if it accepts a connection: at the first TCP port of
	// ports or, with exposure Gateway, at the port of the Gateway or port 80.
	// +optional
	Probe *ServiceProbe `json:"probe,omitempty"`
}

// ServiceProbe is a GET request to an address of a Workload, with a DNS name of the Workload as Host. The address answers if the
// status is from 200 to 399; a redirect is not followed. The request is HTTPS, without a check of the certificate, at port 443, at a
// port with appProtocol https, and at a Gateway unless its port is 80. Other requests are HTTP.
type ServiceProbe struct {
	// path of the request, with its query, such as /healthz.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[!-~]*$`
	Path string `json:"path"`

	// port of the Service that gets the request: one of ports, with protocol TCP. Without it, it is the first one. With exposure
	// Gateway it must not be set: the Gateway gets the request.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
}

// DefaultDrainSeconds is drainSeconds of a service that does not set it.
const DefaultDrainSeconds = 30

// ServiceExposure is from where the Service of a Workload is reached.
// +kubebuilder:validation:Enum=Cluster;LoadBalancer;Gateway
type ServiceExposure string

const (
	// ServiceExposureCluster is reached from the cell of the Service.
	ServiceExposureCluster ServiceExposure = "Cluster"
	// ServiceExposureLoadBalancer is reached from outside of the cell, too.
	ServiceExposureLoadBalancer ServiceExposure = "LoadBalancer"
	// ServiceExposureGateway is reached from outside of the cell, too, at a Gateway by names of the Workload.
	ServiceExposureGateway ServiceExposure = "Gateway"
)

// Exposed reports whether the service is reached from outside of its cells: at the Gateway of its cells if it is Routed, and otherwise at
// a load balancer of its own. s may be nil.
func (s *WorkloadService) Exposed() bool {
	return s != nil && (s.Exposure == ServiceExposureLoadBalancer || s.Routed())
}

// Routed reports whether the service is reached at the Gateway of its cells. s may be nil.
func (s *WorkloadService) Routed() bool { return s != nil && s.Exposure == ServiceExposureGateway }

// ServicePort is a port of the Service of a Workload.
type ServicePort struct {
	// name of the port. Each of several ports has a name of its own.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// port of the Service.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// targetPort is the port of the Instances: its number, or its name in the template. Without it, it is the number of
	// port.
	// +optional
	// +kubebuilder:validation:XIntOrString
	TargetPort *intstr.IntOrString `json:"targetPort,omitempty"`

	// protocol is TCP, UDP or SCTP. Without it, it is TCP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=4
	Protocol *corev1.Protocol `json:"protocol,omitempty"`

	// appProtocol is the protocol of the application, such as http or kubernetes.io/h2c, for gateways and service meshes.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	AppProtocol *string `json:"appProtocol,omitempty"`
}
