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
	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
)

// backend is a port of a Service.
type backend struct {
	namespace, service string
	port               intstr.IntOrString
}

// hop is where an Ingress or an HTTPRoute leads requests for a name.
type hop struct {
	backend
	// path is the field with the hop.
	path, name string
	// partly: not all requests for the name, or not as they are.
	partly bool
}

// allPaths are the paths that lead all requests: of Ingresses, some controllers take patterns.
var allPaths = regexp.MustCompile(`^/*(\??\(?\.?\*\)?)?$`)

// ingressHops has the hops of an Ingress; hops without a name have the requests for all other names.
func ingressHops(spec *networkingv1.IngressSpec, namespace string) []hop {
	var hops []hop
	add := func(name, path string, from *networkingv1.IngressBackend, partly bool) {
		service := ptr.Deref(from.Service, networkingv1.IngressServiceBackend{})
		to := backend{namespace, service.Name, intstr.FromInt32(service.Port.Number)}
		if service.Port.Name != "" {
			to.port = intstr.FromString(service.Port.Name)
		}
		hops = append(hops, hop{to, path, name, partly})
	}
	if spec.DefaultBackend != nil {
		add("", "spec.defaultBackend", spec.DefaultBackend, false)
	}
	for i, rule := range spec.Rules {
		for j, path := range ptr.Deref(rule.HTTP, networkingv1.HTTPIngressRuleValue{}).Paths {
			exact := ptr.Deref(path.PathType, "") == networkingv1.PathTypeExact
			add(rule.Host, fmt.Sprintf("spec.rules[%d].http.paths[%d]", i, j), &path.Backend, exact || !allPaths.MatchString(path.Path))
		}
	}
	return hops
}

// httpRoute has the fields of an HTTPRoute that decide. A cell need not serve the kind, so that its types are not imported.
type httpRoute struct {
	Spec struct {
		Hostnames []string    `json:"hostnames"`
		Rules     []routeRule `json:"rules"`
	} `json:"spec"`
}

type routeRule struct {
	Matches     []routeMatch  `json:"matches"`
	Filters     []routeFilter `json:"filters"`
	BackendRefs []struct {
		Kind      string        `json:"kind"`
		Namespace string        `json:"namespace"`
		Name      string        `json:"name"`
		Port      int32         `json:"port"`
		Weight    *int32        `json:"weight"`
		Filters   []routeFilter `json:"filters"`
	} `json:"backendRefs"`
}

type routeMatch struct {
	Path struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"path"`
	Method  string `json:"method"`
	Headers []any  `json:"headers"`
	Params  []any  `json:"queryParams"`
}

// matchesAll reports whether a match has all requests.
func (m *routeMatch) matchesAll() bool {
	return strings.Trim(m.Path.Value, "/") == "" && m.Path.Type != "Exact" && m.Method == "" && len(m.Headers)+len(m.Params) == 0
}

type routeFilter struct {
	Type string `json:"type"`
}

// leads reports whether requests reach the same program and path without the filter.
func (f *routeFilter) leads() bool {
	return strings.HasSuffix(f.Type, "HeaderModifier") || f.Type == "RequestMirror" || f.Type == "CORS"
}

// hops are where the route leads.
func (r *httpRoute) hops(namespace string) []hop {
	var hops []hop
	names := r.Spec.Hostnames
	if len(names) == 0 {
		names = []string{""}
	}
	for i := range r.Spec.Rules {
		rule := &r.Spec.Rules[i]
		whole := len(rule.Matches) == 0 || slices.ContainsFunc(rule.Matches, func(match routeMatch) bool { return match.matchesAll() })
		for at, name := range names {
			path := fmt.Sprintf("spec.rules[%d]", i)
			if strings.Contains(name, "*") {
				path = fmt.Sprintf("spec.hostnames[%d]", at)
			}
			for _, next := range rule.backends(namespace) {
				hops = append(hops, hop{next, path, name, !whole || !rule.leads()})
			}
		}
	}
	return hops
}

// leads reports whether a rule leads requests as they are.
func (r *routeRule) leads() bool {
	filters := slices.Clone(r.Filters)
	for _, to := range r.BackendRefs {
		filters = append(filters, to.Filters...)
	}
	return !slices.ContainsFunc(filters, func(filter routeFilter) bool { return !filter.leads() })
}

// backends are the backends with requests; an empty one stands for what is no Service.
func (r *routeRule) backends(namespace string) []backend {
	var found []backend
	for _, to := range r.BackendRefs {
		if ptr.Deref(to.Weight, 1) == 0 {
			continue
		}
		next := backend{}
		if to.Kind == "" || to.Kind == "Service" {
			next = backend{cmp.Or(to.Namespace, namespace), to.Name, intstr.FromInt32(to.Port)}
		}
		found = append(found, next)
	}
	if len(found) == 0 {
		return []backend{{}}
	}
	return found
}

// addFronts makes the names for which an Ingress or an HTTPRoute leads all requests to one Service the exposure and the hostnames of a
// Workload, and lists the rest of it.
func (m *manifests) addFronts() {
	m.each(networkingv1.GroupName, "Ingress", func(object source, id identity) error {
		ingress := &networkingv1.Ingress{}
		if _, err := decode(object, ingress); err != nil {
			return err
		}
		shown := describe(object.Unstructured)
		if !m.expose(object, ingressHops(&ingress.Spec, id.namespace)) {
			return nil
		}
		for i, tls := range ingress.Spec.TLS {
			m.lose(shown, fmt.Sprintf("spec.tls[%d]", i), "the operator has the certificates of the Gateways, which end TLS")
			m.leftOut[identity{kind: "Secret", namespace: id.namespace, name: tls.SecretName}] = shown + ", whose certificates are the operator's"
		}
		return nil
	})
	m.each("gateway.networking.k8s.io", "HTTPRoute", func(object source, id identity) error {
		route := &httpRoute{}
		unknown, err := decode(object, route)
		if err != nil || !m.expose(object, route.hops(id.namespace)) {
			return err
		}
		for _, field := range unknown {
			if match := ofRule.FindStringSubmatch(field.Error()); match != nil {
				m.lose(describe(object.Unstructured), match[1], "the route of a Workload has none")
			}
		}
		for i, rule := range route.Spec.Rules {
			if len(rule.Filters) > 0 && rule.leads() {
				m.lose(describe(object.Unstructured), fmt.Sprintf("spec.rules[%d].filters", i), "the route of a Workload has none")
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

// expose gives Workloads the names of an object for which it leads all requests to one of their Services, and lists the rest of it.
func (m *manifests) expose(object source, hops []hop) bool {
	shown, wholes, carried := describe(object.Unstructured), wholesOf(hops), map[string]backend{}
	var lost []podfields.Loss
	exposed := map[*converted]bool{}
	// The hop with all requests for a name decides first.
	for _, next := range slices.SortedStableFunc(slices.Values(hops), func(a, b hop) int { return order(a.partly) - order(b.partly) }) {
		if to, found := carried[next.name]; found && to == next.backend {
			continue
		}
		c, why := m.served[hostKey{next.namespace, next.service}], unlike(next, wholes[next.name])
		if why == "" {
			why = m.lead(c, next)
		}
		switch loss := (podfields.Loss{Path: next.path, Why: why}); {
		case why == "":
			carried[next.name] = next.backend
			if !exposed[c] {
				exposed[c] = true
				m.lose("Workload "+c.workload.Name, "spec.service.hostnames", "with exposure: Gateway they stand for the names of "+shown+
					"; the operator must allow their domain for the project")
			}
		case !slices.Contains(lost, loss):
			lost = append(lost, loss)
		}
	}
	if len(carried) > 0 {
		m.loseAnnotations(shown, object)
	} else {
		lost = wholly(lost)
	}
	for _, loss := range lost {
		m.lose(shown, loss.Path, loss.Why)
	}
	return len(carried) > 0
}

func order(later bool) int {
	if later {
		return 1
	}
	return 0
}

// wholly lists an object of which nothing is carried over, for each reason once.
func wholly(lost []podfields.Loss) []podfields.Loss {
	var found []podfields.Loss
	for _, loss := range append(lost, podfields.Loss{Why: "it leads to no Service"})[:max(1, len(lost))] {
		loss = podfields.Loss{Why: "is not converted: " + loss.Why}
		if !slices.Contains(found, loss) {
			found = append(found, loss)
		}
	}
	return found
}

// wholesOf are the backends that get all requests for a name, by names.
func wholesOf(hops []hop) map[string][]backend {
	found := map[string][]backend{}
	for _, next := range hops {
		if !next.partly && !slices.Contains(found[next.name], next.backend) {
			found[next.name] = append(found[next.name], next.backend)
		}
	}
	return found
}

// unlike is why a hop does not lead all requests for its name to one Service. wholes are the backends that get all of them.
func unlike(next hop, wholes []backend) string {
	switch {
	case next.service == "":
		return "it leads to no Service"
	case next.name == "" || strings.Contains(next.name, "*"):
		return "a Gateway leads to a Workload by names without wildcards; set exposure: Gateway and hostnames in spec.service"
	case next.partly:
		return "a Workload gets all requests for its names as they are; give each path a name of its own, or run a proxy as a Workload"
	case len(wholes) > 1:
		return "a name leads to one Workload; give each Service a name of its own, or run a proxy as a Workload"
	default:
		return ""
	}
}

// mostHostnames is the bound of hostnames of a Workload.
const mostHostnames = 8

// lead leads requests for a name to the first port of a Workload's Service, or returns why not.
func (m *manifests) lead(c *converted, next hop) string {
	if c == nil {
		return fmt.Sprintf("Service %s has become spec.service of no Workload", next.service) +
			m.elsewhere(next.namespace, func(c *converted) bool { return len(c.services) > 0 && c.services[0].Name == next.service })
	}
	service, port := c.workload.Spec.Service, next.port
	at := slices.IndexFunc(service.Ports, func(other v1alpha.ServicePort) bool {
		return port == intstr.FromInt32(other.Port) || port.StrVal != "" && port.StrVal == other.Name
	})
	other := slices.IndexFunc(m.workloads, func(other *converted) bool {
		spec := other.workload.Spec.Service
		return other != c && spec != nil && slices.Contains(spec.Hostnames, next.name)
	})
	switch {
	case service.Headless:
		return fmt.Sprintf("Service %s is headless, and only a Service with an address is exposed: remove clusterIP: None, "+
			"or set headless: false and exposure: Gateway in spec.service", next.service)
	case at < 0:
		return fmt.Sprintf("Service %s has no port %s", next.service, port.String())
	case service.Exposed() && (at > 0 || !service.Routed()):
		return fmt.Sprintf("Service %s is exposed otherwise already, and a Workload has one exposure, of its first port", next.service)
	case other >= 0:
		return fmt.Sprintf("a name leads to one Workload, and Workload %s has %s", m.workloads[other].workload.Name, next.name)
	case slices.Contains(service.Hostnames, next.name):
		return ""
	case len(service.Hostnames) == mostHostnames:
		return fmt.Sprintf("Workload %s has %d names already, and no more are possible", c.workload.Name, mostHostnames)
	}
	service.Ports[0], service.Ports[at] = service.Ports[at], service.Ports[0]
	service.Exposure = v1alpha.ServiceExposureGateway
	service.Hostnames = append(service.Hostnames, next.name)
	c.admit(service.Ports[:1], nil)
	return ""
}
