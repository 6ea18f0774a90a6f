// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// goneHosts are the hosts that a cluster has and no cell.
type goneHosts struct {
	// services are names of Services, and sets names of StatefulSets, whose Pods have an index.
	services, sets map[string]bool
}

func (m *manifests) goneHosts() *goneHosts {
	gone := &goneHosts{services: map[string]bool{}, sets: map[string]bool{}}
	for _, object := range m.objects {
		switch {
		case object.GetKind() == "Service" && object.GetAPIVersion() == "v1":
			gone.services[object.GetName()] = true
		case object.GetKind() == "StatefulSet" && convertible(object.Unstructured):
			gone.sets[object.GetName()] = true
		}
	}
	return gone
}

var (
	// inCluster is a name in the domain of a cluster.
	inCluster = regexp.MustCompile(`\b([a-z0-9][-a-z0-9]*(?:\.[a-z0-9][-a-z0-9]*)*)\.svc\b`)
	// label is a name that may be a host, with the text before and after it.
	label = regexp.MustCompile(`(//|@|[^-._a-zA-Z0-9]|^)([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)(:[0-9]|\.|[^-_a-zA-Z0-9]|$)`)
	// ofHost is the name of a variable or of an argument whose value is a host.
	ofHost = regexp.MustCompile(`(?i)host|addr|url|uri|server|endpoint|broker|upstream|target|peer|join|seed|node|svc|service|dns|dsn`)
)

// in returns the host that a text names, if it is gone. called is the name of the text, such as the name of a variable:
// a text that is nothing but a name is a host only by it.
func (g *goneHosts) in(text, called string) (what string, found bool) {
	if match := inCluster.FindStringSubmatch(text); match != nil {
		return "Service " + match[1], true
	}
	if len(g.services)+len(g.sets) == 0 {
		return "", false
	}
	for rest := text; ; {
		match := label.FindStringSubmatchIndex(rest)
		if match == nil {
			return "", false
		}
		before, name, after := rest[match[2]:match[3]], rest[match[4]:match[5]], rest[match[6]:match[7]]
		isHost := before == "//" || before == "@" || strings.HasPrefix(after, ":") || called != "" && after != "." && ofHost.MatchString(called)
		pod := name
		if dash := strings.LastIndex(name, "-"); dash > 0 && strings.Trim(name[dash+1:], "0123456789") == "" {
			pod = name[:dash]
		}
		switch {
		case g.services[name] && isHost:
			return "Service " + name, true
		case pod != name && g.sets[pod]:
			return "Pod " + name, true
		}
		// The end of this name may begin the next one.
		rest = rest[match[5]:]
	}
}

// hosts lists the texts of Workloads, and of the data that they name, with the name of a Service or of a Pod that no
// cell has.
func (m *manifests) hosts() {
	gone := m.goneHosts()
	for _, c := range m.workloads {
		for _, container := range c.workload.Spec.Template.Spec.Runtime.Sandbox.AllContainers() {
			values := map[string]string{}
			for _, variable := range container.Env {
				values[variable.Name] = expand(variable.Value, values)
				if what, found := gone.in(values[variable.Name], variable.Name); found {
					c.losef("", "variable %s of container %s names %s, which no cell has", variable.Name, container.Name, what)
				}
			}
			for _, list := range textsOf(container) {
				for i, text := range list.texts {
					text = expand(text, values)
					if what, found := gone.in(text, text); found {
						c.losef("", "%s[%d] of container %s names %s, which no cell has", list.name, i, container.Name, what)
					}
				}
			}
		}
	}
	for _, object := range m.objects {
		if id := m.identify(object); m.named[id] && id.kind == "ConfigMap" {
			data, _, _ := unstructured.NestedStringMap(object.Object, "data")
			for _, key := range slices.Sorted(maps.Keys(data)) {
				if what, found := gone.in(data[key], ""); found {
					m.lose(describe(object.Unstructured), "data["+key+"]", "names "+what+", which no cell has")
				}
			}
		}
	}
}

// kubernetesReference is a reference that Kubernetes expands.
var kubernetesReference = regexp.MustCompile(`\$\([^()\s]+\)`)

// expand replaces the references to variables in a text by their values, if these are known.
func expand(text string, values map[string]string) string {
	return kubernetesReference.ReplaceAllStringFunc(text, func(reference string) string {
		if value, known := values[strings.Trim(reference, "$()")]; known {
			return value
		}
		return reference
	})
}
