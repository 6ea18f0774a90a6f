// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// hop is where an Ingress or an HTTPRoute leads requests for a name: to a port of a Service.
type hop struct {
	name, namespace, service string
	port                     intstr.IntOrString
	// partly: not all requests for the name, or not as they are.
	partly bool
}

// ingressHops has the hops of an Ingress; hops without a name are the rest of all requests.
func ingressHops(spec *networkingv1.IngressSpec) []hop {
	var hops []hop
	if spec.DefaultBackend != nil {
		hops = []hop{{}}
	}
	for _, rule := range spec.Rules {
		for _, path := range ptr.Deref(rule.HTTP, networkingv1.HTTPIngressRuleValue{}).Paths {
			service := ptr.Deref(path.Backend.Service, networkingv1.IngressServiceBackend{})
			next := hop{name: rule.Host, service: service.Name, port: intstr.FromInt32(service.Port.Number)}
			if service.Port.Name != "" {
				next.port = intstr.FromString(service.Port.Name)
			}
			exact := ptr.Deref(path.PathType, "") == networkingv1.PathTypeExact
			next.partly = exact || strings.Trim(path.Path, "/") != ""
			hops = append(hops, next)
		}
	}
	return hops
}

// httpRoute has the fields of an HTTPRoute that decide. A cell need not serve the kind, so that its types are not imported.
type httpRoute struct {
	Spec struct {
		Hostnames []string `json:"hostnames"`
		Rules     []struct {
			Matches []struct {
				Path struct {
					Type  string `json:"type"`
					Value string `json:"value"`
				} `json:"path"`
				Method  string `json:"method"`
				Headers []any  `json:"headers"`
				Params  []any  `json:"queryParams"`
			} `json:"matches"`
			Filters     []any `json:"filters"`
			BackendRefs []struct {
				Kind      string `json:"kind"`
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
				Port      int32  `json:"port"`
				Filters   []any  `json:"filters"`
			} `json:"backendRefs"`
		} `json:"rules"`
	} `json:"spec"`
}

// hops are where the route leads.
func (r *httpRoute) hops() []hop {
	var hops []hop
	for _, rule := range r.Spec.Rules {
		partly := len(rule.Filters) > 0
		for _, match := range rule.Matches {
			partly = partly || strings.Trim(match.Path.Value, "/") != "" || match.Path.Type == "Exact" || match.Method != "" ||
				len(match.Headers)+len(match.Params) > 0
		}
		for _, backend := range rule.BackendRefs {
			for _, name := range append(r.Spec.Hostnames, "")[:max(1, len(r.Spec.Hostnames))] {
				next := hop{name: name, namespace: backend.Namespace, service: backend.Name, port: intstr.FromInt32(backend.Port)}
				next.partly = partly || len(backend.Filters) > 0 || backend.Kind != "" && backend.Kind != "Service"
				hops = append(hops, next)
			}
		}
	}
	return hops
}

// addFronts makes each Ingress and HTTPRoute that leads all requests for its names to one Service the exposure and the hostnames of a
// Workload.
func (m *manifests) addFronts() {
	m.each(networkingv1.GroupName, "Ingress", func(object source, id identity) error {
		ingress := &networkingv1.Ingress{}
		if _, err := decode(object, ingress); err != nil {
			return err
		}
		shown := describe(object.Unstructured)
		if !m.expose(object, ingressHops(&ingress.Spec)) {
			return nil
		}
		for i, tls := range ingress.Spec.TLS {
			m.lose(shown, fmt.Sprintf("spec.tls[%d]", i), "the operator has the certificates of the Gateways, which end TLS")
			m.leftOut[identity{kind: "Secret", namespace: id.namespace, name: tls.SecretName}] = shown + ", whose certificates are the operator's"
		}
		return nil
	})
	m.each("gateway.networking.k8s.io", "HTTPRoute", func(object source, _ identity) error {
		route := &httpRoute{}
		unknown, err := decode(object, route)
		if err != nil || !m.expose(object, route.hops()) {
			return err
		}
		for _, field := range unknown {
			if match := ofRule.FindStringSubmatch(field.Error()); match != nil {
				m.lose(describe(object.Unstructured), match[1], "the route of a Workload has none")
			}
		}
		return nil
	})
}

// listNodePorts lists the Services at ports of nodes that nothing exposes.
func (m *manifests) listNodePorts() {
	for _, c := range m.workloads {
		if len(c.services) > 0 && c.services[0].Spec.Type == corev1.ServiceTypeNodePort && !c.workload.Spec.Service.Exposed() {
			m.lose("Service "+c.services[0].Name, "spec.type",
				"no node of a cell answers for Instances: type LoadBalancer, or an Ingress for its name, gives addresses in each city")
		}
	}
}

// ofRule are the fields of a rule of an HTTPRoute that change how requests are served, and not which.
var ofRule = regexp.MustCompile(`"(spec\.rules\[\d+\]\.(?:timeouts|retry|sessionPersistence))"`)

// expose gives a Workload the names of an object, or lists the object.
func (m *manifests) expose(object source, hops []hop) bool {
	shown, why := describe(object.Unstructured), unlike(hops)
	var c *converted
	if why == "" {
		c = m.served[hostKey{cmp.Or(hops[0].namespace, m.identify(object).namespace), hops[0].service}]
		why = lead(c, hops)
	}
	if why != "" {
		m.lose(shown, "", "is not converted: "+why)
		return false
	}
	m.lose("Workload "+c.workload.Name, "spec.service.hostnames", "with exposure: Gateway they stand for the names of "+shown+
		"; the operator must allow their domain for the project")
	m.loseAnnotations(shown, object)
	return true
}

// unlike is why hops do not lead all requests for their names to one Service.
func unlike(hops []hop) string {
	for _, next := range hops {
		switch {
		case next.name == "" || strings.Contains(next.name, "*"):
			return "a Gateway leads to a Workload by names without wildcards; set exposure: Gateway and hostnames in spec.service"
		case next.partly:
			return "a Workload gets all requests for its names as they are; give each path a name of its own, or run a proxy as a Workload"
		case next.service != hops[0].service || next.port != hops[0].port:
			return "a name leads to one Workload; give each Service a name of its own, or run a proxy as a Workload"
		}
	}
	if len(hops) == 0 {
		return "it leads to no Service"
	}
	return ""
}

// lead leads hops to the first port of a Workload's Service, or returns why not.
func lead(c *converted, hops []hop) string {
	if c == nil {
		return fmt.Sprintf("Service %s has become spec.service of no Workload", hops[0].service)
	}
	service, port := c.workload.Spec.Service, hops[0].port
	at := slices.IndexFunc(service.Ports, func(other v1alpha.ServicePort) bool {
		return port == intstr.FromInt32(other.Port) || port.StrVal != "" && port.StrVal == other.Name
	})
	switch {
	case service.Headless:
		return fmt.Sprintf("Service %s is headless, and only a Service with an address is exposed", hops[0].service)
	case at < 0:
		return fmt.Sprintf("Service %s has no port %s", hops[0].service, port.String())
	case service.Exposed() && (at > 0 || !service.Routed()):
		return fmt.Sprintf("Service %s is exposed otherwise already, and a Workload has one exposure, of its first port", hops[0].service)
	}
	service.Ports[0], service.Ports[at] = service.Ports[at], service.Ports[0]
	service.Exposure = v1alpha.ServiceExposureGateway
	for _, next := range hops {
		if !slices.Contains(service.Hostnames, next.name) {
			service.Hostnames = append(service.Hostnames, next.name)
		}
	}
	c.admit(service.Ports[:1], nil)
	return ""
}
