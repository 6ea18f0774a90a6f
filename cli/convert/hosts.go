// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// goneHosts are the hosts that a cluster has and no cell.
type goneHosts struct {
	// services are names of Services, sets names of StatefulSets, whose Pods have an index, and namespaces the namespaces
	// of all objects.
	services, sets, namespaces map[string]bool
}

func (m *manifests) goneHosts() *goneHosts {
	gone := &goneHosts{services: map[string]bool{}, sets: map[string]bool{}, namespaces: map[string]bool{"default": true}}
	for _, object := range m.objects {
		gone.namespaces[m.identify(object).namespace] = true
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
	// word is a name that may be a host.
	word = regexp.MustCompile(`[-._a-zA-Z0-9]+`)
	// beforeHost and afterHost are texts before and after a host: the rest of a URL, a port, and programs that connect to
	// one.
	beforeHost = regexp.MustCompile(`(//|@|\b(nslookup|ping|dig|curl|wget|nc|telnet|getent hosts)(\s+-\S*)*\s+)$`)
	afterHost  = regexp.MustCompile(`^(:[0-9]| [0-9]{2,5}\b)`)
	// ofHost is the name of a variable, or an argument, whose value is a host.
	ofHost = regexp.MustCompile(`(?i)host|addr|url|uri|server|endpoint|broker|upstream|target|peer|join|seed|node|svc|service|dns|dsn|leader`)
)

// findName returns the host that a text names, if it is gone. called is the name of the text, such as the name of a variable:
// a text that is nothing but a name is a host only by it.
func (g *goneHosts) findName(text, called string) (what string, found bool) {
	if match := inCluster.FindStringSubmatch(text); match != nil {
		return "Service " + match[1], true
	}
	if len(g.services)+len(g.sets) == 0 {
		return "", false
	}
	for _, at := range word.FindAllStringIndex(text, -1) {
		labels := strings.Split(strings.Trim(text[at[0]:at[1]], "-."), ".")
		if g.isPod(labels[0]) {
			return "Pod " + labels[0], true
		}
		if !g.services[labels[0]] || len(labels) > 2 || len(labels) == 2 && !g.namespaces[labels[1]] {
			continue
		}
		const near = 64
		before, after := text[max(0, at[0]-near):at[0]], text[at[1]:min(len(text), at[1]+near)]
		if strings.HasSuffix(before, "/") && !strings.HasSuffix(before, "//") {
			// A part of a path, such as the one of an image.
			continue
		}
		if len(labels) == 2 || ofHost.MatchString(called) || beforeHost.MatchString(before) || afterHost.MatchString(after) {
			return "Service " + labels[0], true
		}
	}
	return "", false
}

// ofService is a variable that Kubernetes sets in every container for a Service of its namespace. Instances have these of
// the API server alone.
var ofService = regexp.MustCompile(`^(.+?)_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?:_.*)?$`)

// find looks for the host, or the variables of a Service, in a text of a container. Data that gives a container variables
// may have any names.
func (g *goneHosts) find(container *v1alpha.SandboxContainer, text, called string, set map[string]string) (what string, found bool) {
	if what, found = g.findName(text, called); found || len(container.EnvFrom) > 0 {
		return what, found
	}
	return g.findReference(text, set)
}

// findReference returns the Service to whose variables a text refers, if it is gone. A container may have set the variable itself.
func (g *goneHosts) findReference(text string, set map[string]string) (what string, found bool) {
	for _, match := range referencePattern.FindAllStringSubmatch(text, -1) {
		name := match[1] + match[2] + match[3]
		parts := ofService.FindStringSubmatch(name)
		if _, own := set[name]; own || parts == nil {
			continue
		}
		service := strings.ToLower(strings.ReplaceAll(parts[1], "_", "-"))
		if g.services[service] {
			return "Service " + service + " by variable " + name, true
		}
	}
	return "", false
}

// isPod reports whether a name is the name of a StatefulSet with an index.
func (g *goneHosts) isPod(name string) bool {
	dash := strings.LastIndex(name, "-")
	return dash > 0 && dash < len(name)-1 && strings.Trim(name[dash+1:], "0123456789") == "" && g.sets[name[:dash]]
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
				if what, found := gone.find(container, values[variable.Name], variable.Name, values); found {
					c.losef("", "variable %s of container %s names %s, which no cell has", variable.Name, container.Name, what)
				}
			}
			for _, list := range textsOf(container) {
				for i, text := range list.texts {
					text = expand(text, values)
					if what, found := gone.find(container, text, text, values); found {
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
				if what, found := gone.findName(data[key], ""); found {
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
