// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
)

// addServices makes a Service of the Pods of one converted object its Workload's spec.service. A Workload has one: the one with its
// name, or else the first.
func (m *manifests) addServices() {
	m.each(corev1.GroupName, "Service", func(object source, id identity) error {
		service := &corev1.Service{}
		unknown, err := decode(object, service)
		if err == nil {
			m.unknown(describe(object.Unstructured), unknown)
			service.Namespace = id.namespace
			m.choose(service)
		}
		return err
	})
	for _, c := range m.workloads {
		named := func(service *corev1.Service) bool { return service.Name == c.from.name }
		if i := slices.IndexFunc(c.services, named); i > 0 {
			c.services[0], c.services[i] = c.services[i], c.services[0]
		}
		for i, service := range c.services {
			if i == 0 {
				m.served[hostKey{service.Namespace, service.Name}] = c
				m.serve(c, service)
			} else {
				m.second(c, service)
			}
			m.hosts[hostKey{service.Namespace, service.Name}] = c.hostOf(service.Name, service.Spec.ClusterIP == corev1.ClusterIPNone)
		}
		m.govern(c)
		for _, alias := range c.aliases {
			for _, name := range alias.Hostnames {
				m.hosts[hostKey{c.from.namespace, name}] = host{what: name, instead: alias.IP}
			}
		}
		for id, volume := range c.leftOut {
			id.namespace = c.from.namespace
			m.leftOut[id] = volume
		}
	}
}

// choose gives a Service to the Workload whose Instances it has, or lists it.
func (m *manifests) choose(service *corev1.Service) {
	gone := host{what: "Service " + service.Name}
	selector := &metav1.LabelSelector{MatchLabels: service.Spec.Selector}
	selected := m.selected(service.Namespace, selector)
	why := ""
	switch {
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		why = "no cell has another name for " + service.Spec.ExternalName
		if !strings.Contains(service.Spec.ExternalName+".", ".svc.") {
			gone.instead = service.Spec.ExternalName
			why += "; write it where a program names the Service"
		}
	case len(service.Spec.Selector) == 0:
		why = "it has no selector, and the Service of a Workload has its Instances; write the addresses where a program names the Service"
	case len(selected) == 0:
		why = "it selects the Pods of no converted object" + m.selectedElsewhere(service.Namespace, selector)
	case len(selected) > 1:
		names := make([]string, 0, len(selected))
		for _, c := range selected {
			names = append(names, c.workload.Name)
		}
		why = "it selects the Pods of " + strings.Join(names, " and ") + ", and the Service of a Workload has its own Instances alone; " +
			"set spec.service of each"
	default:
		selected[0].services = append(selected[0].services, service)
		return
	}
	m.hosts[hostKey{service.Namespace, service.Name}] = gone
	m.lose("Service "+service.Name, "", "is not converted: "+why)
}

// serve makes a Service the spec.service of a Workload.
func (m *manifests) serve(c *converted, from *corev1.Service) {
	object := "Service " + from.Name
	target := &v1alpha.WorkloadService{
		Headless: from.Spec.ClusterIP == corev1.ClusterIPNone, PublishNotReadyAddresses: from.Spec.PublishNotReadyAddresses,
	}
	for _, port := range from.Spec.Ports {
		next := v1alpha.ServicePort{Name: port.Name, Port: port.Port, AppProtocol: port.AppProtocol}
		if port.Protocol != "" {
			next.Protocol = new(port.Protocol)
		}
		if port.TargetPort != (intstr.IntOrString{}) {
			next.TargetPort = new(port.TargetPort)
		}
		target.Ports = append(target.Ports, next)
	}
	c.workload.Spec.Service = target
	if from.Name != c.workload.Name {
		m.lose(object, "metadata.name", "is "+c.workload.Name+" in each cell, as the Workload")
	}
	ranges := from.Spec.LoadBalancerSourceRanges
	if text := from.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]; text != "" && len(ranges) == 0 {
		ranges = strings.Split(strings.ReplaceAll(text, " ", ""), ",")
		delete(from.Annotations, corev1.AnnotationLoadBalancerSourceRangesKey)
	}
	m.loseAnnotations(object, from)
	for _, loss := range podfields.Losses(&from.Spec, "spec") {
		m.lose(object, loss.Path, loss.Why)
	}
	if from.Spec.Type == corev1.ServiceTypeLoadBalancer {
		target.Exposure = v1alpha.ServiceExposureLoadBalancer
		c.admit(target.Ports, ranges)
		m.lose(object, "spec.type", "has become exposure: LoadBalancer, an address in each city whose load balancer the operator has configured")
		if len(ranges) > 0 {
			m.lose(object, "spec.loadBalancerSourceRanges", "has become the networkPolicy of the Instances: "+
				"it counts only where the load balancer of a cell keeps the address of clients")
		}
	}
}

// second lists a Service of Instances that have another one.
func (m *manifests) second(c *converted, service *corev1.Service) {
	why := []string{fmt.Sprintf("is not converted: a Workload has one Service, and Service %s has become spec.service of Workload %s",
		c.services[0].Name, c.workload.Name)}
	for _, port := range service.Spec.Ports {
		at := slices.IndexFunc(c.services[0].Spec.Ports, func(other corev1.ServicePort) bool {
			return other.Port == port.Port && orTCP(other.Protocol) == orTCP(port.Protocol)
		})
		if at < 0 {
			why = append(why, fmt.Sprintf("add port %d to its spec.service.ports", port.Port))
		} else if there, here := targetOf(c.services[0].Spec.Ports[at]), targetOf(port); there != here && there.Type == here.Type {
			why = append(why, fmt.Sprintf("port %d leads to %s there, and not to %s", port.Port, there.String(), here.String()))
		}
	}
	m.lose("Service "+service.Name, "", strings.Join(why, "; "))
}

// targetOf is the port of the Pods that a port of a Service leads to.
func targetOf(port corev1.ServicePort) intstr.IntOrString {
	if port.TargetPort == (intstr.IntOrString{}) {
		return intstr.FromInt32(port.Port)
	}
	return port.TargetPort
}

// onlyHeadless is the advice about the name of a single Instance.
const onlyHeadless = "only with headless: true in spec.service an Instance has a name of its own"

// hostOf is the host that a Service of the Pods has become.
func (c *converted) hostOf(service string, ofPods bool) host {
	return host{"Service " + service, c.workload.Name, ofPods, c.workload.Spec.Service.Headless}
}

// govern lists the Service that gave the Pods of a StatefulSet their names, unless the Workload has it.
func (m *manifests) govern(c *converted) {
	at := hostKey{c.from.namespace, c.governing}
	known := m.hosts[at]
	if c.governing != "" && known.what == "" {
		m.hosts[at] = host{what: "Service " + c.governing}
		if c.workload.Spec.Service != nil {
			m.hosts[at] = c.hostOf(c.governing, true)
		}
	}
	switch {
	case c.governing == "", known.what != "" && known.instead != "" && !known.ofPods:
		// Only a headless Service gives names to Pods.
	case c.workload.Spec.Service == nil:
		c.losef("spec.serviceName", "set spec.service with headless: true; the Service has the name of the Workload")
	case !c.workload.Spec.Service.Headless:
		c.losef("spec.serviceName", "Service %s is not headless, and %s", c.services[0].Name, onlyHeadless)
	}
}

// loseAnnotations lists the annotations of an object that has become a part of a Workload.
func (m *manifests) loseAnnotations(object string, from metav1.Object) {
	for _, key := range slices.Sorted(maps.Keys(from.GetAnnotations())) {
		if _, tracked := trackerOf(key); !tracked && !hasKey(key, silent) && !hasKey(key, inert) {
			m.lose(object, "metadata.annotations["+key+"]", "has no place in a Workload")
		}
	}
}

// admit opens the ports of a service to addresses outside of the network of the Instances: without a policy only their own network may
// connect.
func (c *conversion) admit(ports []v1alpha.ServicePort, ranges []string) {
	if len(ranges) == 0 {
		ranges = []string{"0.0.0.0/0", "::/0"}
	}
	own := networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}
	outside := networkingv1.NetworkPolicyIngressRule{}
	for _, cidr := range ranges {
		outside.From = append(outside.From, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}})
	}
	for _, port := range ports {
		target := port.TargetPort
		if target == nil {
			target = new(intstr.FromInt32(port.Port))
		}
		outside.Ports = append(outside.Ports, networkingv1.NetworkPolicyPort{Protocol: port.Protocol, Port: target})
	}
	c.workload.Spec.Template.Spec.NetworkInterfaces[0].NetworkPolicy = &v1alpha.InterfaceNetworkPolicy{
		Ingress: []networkingv1.NetworkPolicyIngressRule{own, outside},
	}
}
