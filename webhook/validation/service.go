// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	// maxServicePorts is the most ports of a Service.
	maxServicePorts = 32
	// maxHostnames is the most names in spec.service.hostnames.
	maxHostnames = 8
	// maxProbePath is the longest spec.service.probe.path, in bytes.
	maxProbePath = 1024
)

// service validates the service of a Workload as Kubernetes validates a Service.
func (p *problems) service(at place, workload *v1alpha.Workload) {
	service := workload.Spec.Service
	if service == nil {
		return
	}
	p.serviceName(place{}.child("metadata"), workload)
	ports := at.child("ports")
	if len(service.Ports) == 0 && !service.Headless {
		p.required(ports, "must have at least one port unless headless is true")
	}
	if len(service.Ports) > maxServicePorts {
		p.add(ports, len(service.Ports), field.TooMany(ports.path, len(service.Ports), maxServicePorts))
	}
	p.exposure(at, service)
	p.addressProbe(at.child("probe"), service)
	if len(service.Hostnames) > maxHostnames {
		list := at.child("hostnames")
		p.add(list, len(service.Hostnames), field.TooMany(list.path, len(service.Hostnames), maxHostnames))
	}
	named := portNames(&workload.Spec.Template.Spec.Runtime)
	names, numbers := sets.New[string](), sets.New[string]()
	for i := range service.Ports {
		port := &service.Ports[i]
		item := ports.item(i, port.Name)
		if port.Name == "" && len(service.Ports) > 1 {
			p.required(item.child("name"), "each of several ports must have a name")
		}
		p.unique(item.child("name"), names, port.Name)
		p.unique(item.child("port"), numbers, fmt.Sprintf("%d/%s", port.Port, ptr.Deref(port.Protocol, corev1.ProtocolTCP)))
		p.servicePort(item, port, named)
	}
}

// exposure validates what depends on the exposure of a service.
func (p *problems) exposure(at place, service *v1alpha.WorkloadService) {
	if service.Exposed() && service.Headless {
		p.invalid(at.child("exposure"), string(service.Exposure),
			"must be Cluster with headless: a load balancer needs a Service with an address")
	}
	if service.Routed() && len(service.Ports) > 0 && ptr.Deref(service.Ports[0].Protocol, corev1.ProtocolTCP) != corev1.ProtocolTCP {
		p.invalid(at.child("ports").item(0, service.Ports[0].Name).child("protocol"), string(*service.Ports[0].Protocol),
			"must be TCP: with exposure Gateway, the first port gets the requests of the route")
	}
	if service.DrainSeconds != nil && !service.Exposed() {
		p.invalid(at.child("drainSeconds"), *service.DrainSeconds, "needs exposure LoadBalancer or Gateway: no client from outside has to leave")
	}
	if len(service.Hostnames) > 0 && !service.Exposed() {
		p.invalid(at.child("hostnames"), len(service.Hostnames),
			"needs exposure LoadBalancer or Gateway: a name has the addresses of load balancers")
	}
}

// addressProbe validates the request by which the hub asks the addresses of a service.
func (p *problems) addressProbe(at place, service *v1alpha.WorkloadService) {
	probe := service.Probe
	if probe == nil {
		return
	}
	if !service.Exposed() {
		p.invalid(at, probe.Path, "needs exposure LoadBalancer or Gateway: the hub asks addresses outside of cells")
	}
	path := at.child("path")
	isControl := func(r rune) bool { return r <= ' ' || r > '~' }
	_, err := url.ParseRequestURI(probe.Path)
	switch {
	case probe.Path == "":
		p.required(path, "must be the path of a request, such as /healthz")
	case len(probe.Path) > maxProbePath:
		p.add(path, probe.Path, field.TooLong(path.path, "", maxProbePath))
	case probe.Path[0] != '/':
		p.invalid(path, probe.Path, "must begin with /")
	case strings.ContainsFunc(probe.Path, isControl):
		p.invalid(path, probe.Path, "must not have spaces, control characters or characters outside of ASCII: write them as %20")
	case err != nil:
		p.invalid(path, probe.Path, "must have two hexadecimal digits after each %")
	}
	p.addressPort(at.child("port"), service)
}

// addressPort validates the port of a probe: one that the service has outside of its cells.
func (p *problems) addressPort(at place, service *v1alpha.WorkloadService) {
	number := service.Probe.Port
	has := slices.ContainsFunc(service.Ports, func(port v1alpha.ServicePort) bool {
		return (number == nil || port.Port == *number) && ptr.Deref(port.Protocol, corev1.ProtocolTCP) == corev1.ProtocolTCP
	})
	switch {
	case number == nil && !has:
		p.required(at, "spec.service.ports has no port of TCP that could be asked")
	case number == nil:
	case len(validation.IsValidPortNum(int(*number))) > 0:
		p.messages(at, fmt.Sprint(*number), validation.IsValidPortNum(int(*number)))
	case service.Routed():
		p.forbidden(at, *number, "with exposure Gateway, the port of the Gateway gets the request")
	case !has:
		p.invalid(at, *number, "must be a port of spec.service.ports with protocol TCP")
	}
}

// serviceName requires a Workload name that a Service may have.
func (p *problems) serviceName(at place, workload *v1alpha.Workload) {
	const detail = "must begin with a letter, because spec.service gives a Service this name: remove spec.service, or create the Workload " +
		"under another name"
	at, name := at.child("name"), workload.Name
	if name == "" && workload.GenerateName != "" {
		at, name = place{}.child("metadata", "generateName"), workload.GenerateName
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		p.invalid(at, name, detail)
	}
}

// servicePort validates one port of a service for Instances whose ports have these names.
func (p *problems) servicePort(at place, port *v1alpha.ServicePort, named sets.Set[string]) {
	if port.Name != "" {
		p.messages(at.child("name"), port.Name, validation.IsDNS1123Label(port.Name))
	}
	p.messages(at.child("port"), fmt.Sprint(port.Port), validation.IsValidPortNum(int(port.Port)))
	p.protocol(at.child("protocol"), port.Protocol)
	if port.AppProtocol != nil {
		p.messages(at.child("appProtocol"), *port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol))
	}
	target := at.child("targetPort")
	switch {
	case port.TargetPort == nil, *port.TargetPort == intstr.FromInt32(0), *port.TargetPort == intstr.FromString(""):
		// As in a Service of Kubernetes, these mean the number of port.
	case port.TargetPort.Type == intstr.Int:
		p.messages(target, port.TargetPort.String(), validation.IsValidPortNum(port.TargetPort.IntValue()))
	default:
		name, protocol := port.TargetPort.StrVal, ptr.Deref(port.Protocol, corev1.ProtocolTCP)
		messages := validation.IsValidPortName(name)
		p.messages(target, name, messages)
		if len(messages) == 0 && !named.Has(name+"/"+string(protocol)) {
			p.add(target, name, noSuchPort(target, name, protocol))
		}
	}
}

func noSuchPort(at place, name string, protocol corev1.Protocol) *field.Error {
	problem := field.NotFound(at.path, shown(name))
	problem.Detail = fmt.Sprintf("no container of the template has a %s port of this name", protocol)
	return problem
}

// serviceWarnings name the ports of a service that no Instance may be reached at: no container names the port, or the
// network policy of the template does not admit the Instances of its network there.
func serviceWarnings(spec *v1alpha.WorkloadSpec) []string {
	service := templates.CompleteService(spec.Service)
	if service == nil {
		return nil
	}
	declared := declaredPorts(&spec.Template.Spec.Runtime)
	var warnings []string
	for i := range service.Ports {
		port := &service.Ports[i]
		at := field.NewPath("spec", "service", "ports").Index(i)
		targets := targetsOf(port, declared)
		if port.TargetPort.Type == intstr.Int && !declares(declared, port) {
			warnings = append(warnings, fmt.Sprintf("%s: no container has port %d/%s in ports: connections fail unless one listens there",
				at.Child("targetPort"), port.TargetPort.IntVal, *port.Protocol))
		}
		for _, target := range targets {
			if !admitsNetwork(&spec.Template.Spec, declared, target) {
				warnings = append(warnings, fmt.Sprintf("%s: networkPolicy of the template does not let Instances of its network connect to "+
					"port %d/%s: add a rule with from: [{podSelector: {}}]", at, target.Port, *target.Protocol))
			}
			if service.Exposed() && !admitsOutside(&spec.Template.Spec, declared, target) {
				warnings = append(warnings, fmt.Sprintf("%s: networkPolicy of the template lets no address from outside connect to port %d/%s, "+
					"so that clients of the load balancer may not reach it: add a rule with from: [{ipBlock: {cidr: 0.0.0.0/0}}]",
					at, target.Port, *target.Protocol))
			}
		}
	}
	return warnings
}

// declaredPorts are the ports of the template, with their protocols.
func declaredPorts(runtime *v1alpha.InstanceRuntimeSpec) []v1alpha.NamedPort {
	ports := portsOf(runtime)
	for i := range ports {
		ports[i].Protocol = new(ptr.Deref(ports[i].Protocol, corev1.ProtocolTCP))
	}
	return ports
}

func declares(declared []v1alpha.NamedPort, port *v1alpha.ServicePort) bool {
	for _, namedPort := range declared {
		if namedPort.Port == port.TargetPort.IntVal && *namedPort.Protocol == *port.Protocol {
			return true
		}
	}
	return false
}

// targetsOf are the ports of an Instance to which a port of the service leads.
func targetsOf(port *v1alpha.ServicePort, declared []v1alpha.NamedPort) []v1alpha.NamedPort {
	if port.TargetPort.Type == intstr.Int {
		return []v1alpha.NamedPort{{Port: port.TargetPort.IntVal, Protocol: port.Protocol}}
	}
	for _, namedPort := range declared {
		if namedPort.Name == port.TargetPort.StrVal && *namedPort.Protocol == *port.Protocol {
			return []v1alpha.NamedPort{namedPort}
		}
	}
	return nil
}

// admitsNetwork reports whether a template lets the Instances of its network connect to a port. Without a policy it
// does. A block of addresses is for peers outside of the network.
func admitsNetwork(spec *v1alpha.InstanceSpec, declared []v1alpha.NamedPort, port v1alpha.NamedPort) bool {
	if len(spec.NetworkInterfaces) == 0 || spec.NetworkInterfaces[0].NetworkPolicy == nil {
		return true
	}
	for i := range spec.NetworkInterfaces[0].NetworkPolicy.Ingress {
		rule := &spec.NetworkInterfaces[0].NetworkPolicy.Ingress[i]
		own := len(rule.From) == 0
		for j := range rule.From {
			own = own || v1alpha.IsOwnNetwork(&rule.From[j])
		}
		if own && admitsPort(rule.Ports, declared, port) {
			return true
		}
	}
	return false
}

// admitsOutside reports whether a template lets some addresses outside of its network connect to a port. Without a policy
// it does not.
func admitsOutside(spec *v1alpha.InstanceSpec, declared []v1alpha.NamedPort, port v1alpha.NamedPort) bool {
	if len(spec.NetworkInterfaces) == 0 || spec.NetworkInterfaces[0].NetworkPolicy == nil {
		return false
	}
	for i := range spec.NetworkInterfaces[0].NetworkPolicy.Ingress {
		rule := &spec.NetworkInterfaces[0].NetworkPolicy.Ingress[i]
		outside := len(rule.From) == 0
		for j := range rule.From {
			outside = outside || rule.From[j].IPBlock != nil
		}
		if outside && admitsPort(rule.Ports, declared, port) {
			return true
		}
	}
	return false
}

// admitsPort reports whether the ports of a rule have a port.
func admitsPort(ports []networkingv1.NetworkPolicyPort, declared []v1alpha.NamedPort, port v1alpha.NamedPort) bool {
	if len(ports) == 0 {
		return true
	}
	for i := range ports {
		open := &ports[i]
		if ptr.Deref(open.Protocol, corev1.ProtocolTCP) != *port.Protocol {
			continue
		}
		switch {
		case open.Port == nil:
			return true
		case open.Port.Type == intstr.Int:
			if last := ptr.Deref(open.EndPort, open.Port.IntVal); port.Port >= open.Port.IntVal && port.Port <= last {
				return true
			}
		default:
			for _, named := range declared {
				if named.Name == open.Port.StrVal && named.Port == port.Port && *named.Protocol == *port.Protocol {
					return true
				}
			}
		}
	}
	return false
}
