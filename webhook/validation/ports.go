// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxInterfaces is how many network interfaces a cell gives an Instance.
const maxInterfaces = 1

// ports validates the ports of a container or a virtual machine. As in a Pod, names are unique there, and a number may
// appear twice: portWarnings has such numbers, and names that several containers have.
func (p *problems) ports(at place, ports []v1alpha.NamedPort) {
	names := sets.New[string]()
	for i := range ports {
		port := &ports[i]
		item := at.item(i, port.Name)
		p.portName(item.child("name"), port.Name)
		p.unique(item.child("name"), names, port.Name)
		p.protocol(item.child("protocol"), port.Protocol)
		p.messages(item.child("port"), fmt.Sprint(port.Port), validation.IsValidPortNum(int(port.Port)))
	}
}

// portName requires a name that a port of a Pod may have.
func (p *problems) portName(at place, name string) {
	if name == "" {
		p.required(at, "must name the port: ports are merged by name"+fieldsPage)
		return
	}
	p.messages(at, name, validation.IsValidPortName(name))
}

func (p *problems) protocol(at place, protocol *corev1.Protocol) {
	switch value := ptr.Deref(protocol, corev1.ProtocolTCP); value {
	case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
	default:
		p.unsupported(at, string(value), "TCP", "UDP", "SCTP")
	}
}

func (p *problems) networkInterfaces(at place, interfaces []v1alpha.InstanceNetworkInterface, runtime *v1alpha.InstanceRuntimeSpec) {
	ports := portNames(runtime)
	if len(interfaces) == 0 {
		p.required(at, "must have at least one network interface")
	}
	if len(interfaces) > maxInterfaces {
		p.add(at, len(interfaces), field.TooMany(at.path, len(interfaces), maxInterfaces))
	}
	for i := range interfaces {
		name := interfaces[i].Network.Name
		item := at.item(i, name)
		p.subdomain(item.child("network", "name"), name)
		if namespace := interfaces[i].Network.Namespace; namespace != "" {
			p.label(item.child("network", "namespace"), namespace)
		}
		p.unsupportedInterface(item, &interfaces[i])
		if policy := interfaces[i].NetworkPolicy; policy != nil {
			ingress := item.child("networkPolicy", "ingress")
			for j := range policy.Ingress {
				p.ingress(ingress.item(j, ""), &policy.Ingress[j], ports)
			}
		}
	}
}

// portsOf are the ports that an Instance has.
func portsOf(runtime *v1alpha.InstanceRuntimeSpec) []v1alpha.NamedPort {
	var ports []v1alpha.NamedPort
	if runtime.VirtualMachine != nil {
		ports = slices.Clone(runtime.VirtualMachine.Ports)
	}
	for _, container := range runtime.Sandbox.Running() {
		ports = append(ports, container.Ports...)
	}
	return ports
}

// portNames are the names of the ports that an Instance has, each with its protocol.
func portNames(runtime *v1alpha.InstanceRuntimeSpec) sets.Set[string] {
	names := sets.New[string]()
	for _, port := range portsOf(runtime) {
		names.Insert(port.Name + "/" + string(ptr.Deref(port.Protocol, corev1.ProtocolTCP)))
	}
	return names
}

// unsupportedInterface refuses fields that no cell honours, by name.
func (p *problems) unsupportedInterface(at place, face *v1alpha.InstanceNetworkInterface) {
	if face.Name != "" && face.Name != v1alpha.InterfaceName {
		p.unsupported(at.child("name"), face.Name, v1alpha.InterfaceName)
	}
	const reason = "no cell supports it: an Instance has the addresses that its cell gives it"
	if len(face.IPFamilies) > 0 {
		p.forbidden(at.child("ipFamilies"), face.IPFamilies, reason)
	}
	if len(face.Addresses) > 0 {
		p.forbidden(at.child("addresses"), face.Addresses, reason)
	}
	if face.ReclaimPolicy != "" {
		p.forbidden(at.child("reclaimPolicy"), face.ReclaimPolicy, reason)
	}
}

// ingress validates a rule for an Instance whose ports have these names.
func (p *problems) ingress(at place, rule *networkingv1.NetworkPolicyIngressRule, ports sets.Set[string]) {
	for i := range rule.Ports {
		item, port := at.child("ports").item(i, ""), &rule.Ports[i]
		p.policyPort(item, port)
		named := port.Port != nil && port.Port.Type == intstr.String
		if protocol := ptr.Deref(port.Protocol, corev1.ProtocolTCP); named &&
			len(validation.IsDNS1123Label(port.Port.StrVal)) == 0 && !ports.Has(port.Port.StrVal+"/"+string(protocol)) {
			p.notFound(item.child("port"), port.Port.StrVal)
		}
	}
	for i := range rule.From {
		p.peer(at.child("from").item(i, ""), &rule.From[i])
	}
}

func (p *problems) policyPort(at place, port *networkingv1.NetworkPolicyPort) {
	p.protocol(at.child("protocol"), port.Protocol)
	numbered := port.Port != nil && port.Port.Type == intstr.Int
	switch {
	case numbered:
		p.messages(at.child("port"), port.Port.String(), validation.IsValidPortNum(port.Port.IntValue()))
	case port.Port != nil:
		p.label(at.child("port"), port.Port.StrVal)
	}
	if port.EndPort == nil {
		return
	}
	end := at.child("endPort")
	if messages := validation.IsValidPortNum(int(*port.EndPort)); len(messages) > 0 {
		p.invalid(end, *port.EndPort, messages[0])
	}
	switch {
	case !numbered:
		p.forbidden(end, *port.EndPort, "may be set only if port is a number")
	case *port.EndPort < port.Port.IntVal:
		p.invalid(end, *port.EndPort, "must be at least port")
	}
}

const ownNetworkOnly = "may only be {}, which stands for the Instances of the same network, in a peer of its own"

func (p *problems) peer(at place, peer *networkingv1.NetworkPolicyPeer) {
	if v1alpha.IsOwnNetwork(peer) {
		return
	}
	if peer.PodSelector != nil {
		p.forbidden(at.child("podSelector"), peer.PodSelector.String(), ownNetworkOnly)
	}
	if peer.NamespaceSelector != nil {
		p.forbidden(at.child("namespaceSelector"), peer.NamespaceSelector.String(), "only ipBlock and an empty podSelector are supported")
	}
	if peer.IPBlock == nil {
		if peer.PodSelector == nil && peer.NamespaceSelector == nil {
			p.required(at.child("ipBlock"), "must be set")
		}
		return
	}
	at = at.child("ipBlock")
	cidr, valid := p.cidr(at.child("cidr"), peer.IPBlock.CIDR)
	for i, text := range peer.IPBlock.Except {
		item := at.child("except").item(i, text)
		except, ok := p.cidr(item, text)
		if valid && ok && (!cidr.Contains(except.Addr()) || except.Bits() <= cidr.Bits()) {
			p.invalid(item, text, "must be a strict subset of cidr "+cidr.String())
		}
	}
}

func (p *problems) cidr(at place, text string) (netip.Prefix, bool) {
	if text == "" {
		p.required(at, "must be a CIDR")
		return netip.Prefix{}, false
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() {
		p.invalid(at, text, "must be a CIDR, for example 192.0.2.0/24 or 2001:db8::/64")
		return netip.Prefix{}, false
	}
	return prefix, true
}
