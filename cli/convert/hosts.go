// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// hostKey is a name in a namespace.
type hostKey struct {
	namespace, name string
}

// host is a name that a cluster resolves.
type host struct {
	// what has the name.
	what string
	// instead is the name or the address in a cell; "": there is nothing.
	instead string
	// ofPods: each Pod has a name and an address there, and ofInstances: each Instance has in a cell.
	ofPods, ofInstances bool
}

// hosts are the names that the cluster of the input resolves.
type hosts map[hostKey]host

// position is where a text is.
type position int

const (
	ofFile position = iota
	ofArgument
	ofVariable
)

// slot is a position, and the name of the variable, of the option before the argument or of the file there. own are the program's own
// names.
type slot struct {
	position
	name string
	own  []string
}

var (
	// word is a name that may be a host, with references to variables.
	word = regexp.MustCompile(`([-._a-zA-Z0-9]|\$\([^()\s]+\)|\$\{\w+\})+`)
	// beforeHost is the text before a host: the begin of a URL, or a program or an option that takes one.
	beforeHost = regexp.MustCompile(`((^|[^/])//|\bdns:///|@|\b(nslookup|ping|dig|curl|wget|nc|telnet|getent hosts)(\s+-\S*)*\s+|` +
		`(^|\s)(-h\s*|--?[a-z-]*host\s+))$`)
	// afterUser is the text after the user of a URL, afterHost the text after a host: a port. Smaller numbers are versions.
	afterUser = regexp.MustCompile(`^(:[^\s/@]*)?@`)
	afterHost = regexp.MustCompile(`^[: ](2[1-5]|53|[89][0-9]|[0-9]{3,5})([^-.\w]|$)`)
	// keyBefore is the key whose value begins here, perhaps after other values of a list: by an equals sign, or as in YAML or JSON.
	keyBefore = regexp.MustCompile(`(?:^|[^-.\w])(?:-D)?([-.\w]+)` +
		`(?:( ?= ?)["']?|: +\[?["']?|["']: ?\[?["']?|: *\n(?:\s*- [^\n]*\n)*\s*- ["']?)` +
		`(?:[^\s"',=]+["']?, ?["']?)*$`)
	// listBefore and endAfter are around a value, or around an item of a list.
	listBefore = regexp.MustCompile(`^["']?([^\s"',]+, ?)*$`)
	endAfter   = regexp.MustCompile(`^([\s"',;/)}\]]|$)`)
	// toOwner is the text before the owner of a file.
	toOwner = regexp.MustCompile(`\b(chown|chgrp)\s+(-\S+\s+)*$`)
)

// isHost reports whether a word of a text stands where a host can stand.
func (s *slot) isHost(text string, from, to int) bool {
	const near = 256
	before, after := text[max(0, from-near):from], text[to:min(len(text), to+near)]
	isURL := beforeHost.MatchString(before)
	name, assigned := s.name, false
	if match := keyBefore.FindStringSubmatch(before); match != nil {
		name, assigned = match[1], match[2] != ""
	}
	switch {
	case strings.HasSuffix(before, "/") && !isURL, afterUser.MatchString(after), toOwner.MatchString(before):
		// A part of a path, such as the one of an image, or a user.
		return false
	case isURL:
		return true
	case strings.HasPrefix(after, ":"), afterHost.MatchString(after):
		return afterHost.MatchString(after) && !keyOfText(name).contains(withVersion)
	case !endAfter.MatchString(after):
		return false
	case name != s.name:
		return s.isHostOf(name, text[from:to], assigned && s.position != ofFile)
	default:
		return listBefore.MatchString(text[:from]) && (s.position == ofVariable && !s.isOther(name, text[from:to]) ||
			s.isHostOf(name, text[from:to], s.position == ofArgument))
	}
}

// isOther reports whether a key has another value than a host, or the value is the program's own name.
func (s *slot) isOther(name, value string) bool {
	key := keyOfText(name)
	return key.isOther(value) || slices.Contains(s.own, value) && !key.isPeer()
}

// isHostOf reports whether the value of a key is a host; of an option, more keys have one.
func (s *slot) isHostOf(name, value string, ofOption bool) bool {
	key := keyOfText(name)
	return !s.isOther(name, value) && (key.isHost() || ofOption && key.leadsTo(value))
}

// lost returns what a word names that no cell has by this name; certain: whatever is around it. A word may be the end of a name.
func (m *manifests) lost(token, namespace string, isEnd bool) (lost string, certain bool) {
	if alias, known := m.hosts[hostKey{namespace, token}]; known && strings.Contains(token, ".") {
		return fmt.Sprintf("%s, which no Instance knows; write %s", alias.what, alias.instead), true
	}
	labels := strings.Split(token, ".")
	if m.isPod(hostKey{namespace, labels[0]}) {
		return "Pod " + labels[0] + ", which no cell has", true
	}
	inCluster := slices.Index(labels, "svc") > 0
	if labels = m.labelsOf(labels, namespace); len(labels) == 0 {
		return "", false
	}
	pod := podOf(token, labels, isEnd)
	if slices.Equal(labels, []string{"kubernetes", metav1.NamespaceDefault}) {
		return "the API server of the cell, where Instances have no identity", true
	}
	at := keyOf(labels, namespace)
	known, isKnown := m.hosts[at]
	switch qualified := len(labels) == 2; {
	case isKnown && qualified && known.instead != "":
		isOwn := at.namespace == namespace || m.ProjectNamespace != ""
		return token + ": its namespace has another name in a cell; " + known.from(pod, isOwn), true
	case isKnown && known.instead != at.name:
		return known.what + ", which no cell has" + known.remedy(pod), qualified
	case !isKnown && inCluster:
		return "Service " + strings.Join(labels, ".") + ", which no cell has", true
	default:
		return "", false
	}
}

// podOf is the name of a Pod before the name of its Service; "" without one.
func podOf(token string, labels []string, isEnd bool) string {
	pod, _, found := strings.Cut(token, "."+strings.Join(labels, "."))
	switch {
	case isEnd:
		return "<instance>"
	case found:
		return pod
	default:
		return ""
	}
}

// keyOf returns the name of a Service in its namespace, if the name has a namespace.
func keyOf(labels []string, namespace string) hostKey {
	if len(labels) == 2 && namespace != "" && !strings.Contains(labels[1], "$") {
		namespace = labels[1]
	}
	return hostKey{namespace, labels[0]}
}

// from names what to write for a host, or for one of its Pods, in its own namespace or in another one.
func (h host) from(pod string, own bool) string {
	if own {
		return strings.TrimPrefix(h.remedy(pod), "; ")
	}
	return "a Workload reaches the names of its own namespace; --project-namespace moves both to one"
}

// remedy names what to write instead of a name, or of the name of a Pod there, if there is something.
func (h host) remedy(pod string) string {
	switch ofPod := pod != "" && h.ofPods; {
	case h.instead == "":
		return ""
	case ofPod && !h.ofInstances:
		return "; " + onlyHeadless
	case ofPod:
		return "; write " + pod + "." + h.instead
	case h.ofPods && !h.ofInstances:
		return "; write " + h.instead + ", which has one address for all Instances"
	default:
		return "; write " + h.instead
	}
}

// labelsOf returns the labels of a Service, and of its namespace, in a name; none in the name of a domain.
func (m *manifests) labelsOf(labels []string, namespace string) []string {
	if inCluster := slices.Index(labels, "svc"); inCluster > 0 {
		return labels[max(0, inCluster-2):inCluster]
	}
	last := labels[len(labels)-1]
	_, isService := m.hosts[hostKey{namespace, last}]
	switch {
	case len(labels) == 2 && isService:
		// A Pod of a headless Service.
		return labels[1:]
	case len(labels) == 1, len(labels) == 2 && m.namespaces[last]:
		return labels
	default:
		return nil
	}
}

// lostIn returns what a text names that no cell has, each once.
func (m *manifests) lostIn(text, namespace string, s slot) []string {
	var found []string
	for _, at := range word.FindAllStringIndex(text, -1) {
		token := text[at[0]:at[1]]
		begin := at[0] + len(token) - len(strings.TrimLeft(token, "-."))
		token = strings.Trim(token, "-.")
		lost, certain := m.lost(token, namespace, text[at[0]] == '.' && at[0] > 0 && text[at[0]-1] == '}')
		if lost == "" {
			lost, certain = m.strangerIn(text, begin, begin+len(token), namespace, &s), true
		}
		if lost != "" && !slices.Contains(found, lost) && (certain || s.isHost(text, begin, begin+len(token))) {
			found = append(found, lost)
		}
	}
	return found
}

// serviceVariable is a variable that Kubernetes sets in every container for a Service of its namespace. Instances have these of
// the API server alone.
var serviceVariable = regexp.MustCompile(`^(.+?)_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?:_.*)?$`)

// variablesOf returns the Services to whose variables a text refers. A container may have set a variable itself.
func (m *manifests) variablesOf(text, namespace string, set map[string]string) []string {
	var found []string
	for _, match := range referencePattern.FindAllStringSubmatch(text, -1) {
		name := match[1] + match[2] + match[3]
		parts := serviceVariable.FindStringSubmatch(name)
		if _, own := set[name]; own || parts == nil {
			continue
		}
		service := strings.ToLower(strings.ReplaceAll(parts[1], "_", "-"))
		known, isKnown := m.hosts[hostKey{namespace, service}]
		if !isKnown {
			continue
		}
		found = append(found, known.what+" by variable "+name+", which no Instance has"+known.remedy(""))
	}
	return found
}

// names are the program's own: of its object, its Services, its containers and its labels. m.rename and m.addServices come first.
func (c *converted) names() []string {
	names := []string{c.from.name}
	for _, service := range c.services {
		names = append(names, service.Name)
	}
	for _, container := range c.workload.Spec.Template.Spec.Runtime.Sandbox.AllContainers() {
		names = append(names, container.Name)
	}
	return slices.AppendSeq(names, maps.Values(c.podLabels))
}

// isPod reports whether a name is the name of a StatefulSet with an index.
func (m *manifests) isPod(at hostKey) bool {
	dash := strings.LastIndex(at.name, "-")
	return dash > 0 && dash < len(at.name)-1 && strings.Trim(at.name[dash+1:], "0123456789") == "" &&
		slices.ContainsFunc(m.workloads, func(c *converted) bool {
			return c.from == identity{"apps", "StatefulSet", at.namespace, at.name[:dash]}
		})
}

// listHosts lists the texts of Workloads, and of the data that they name, with a name that no cell has.
func (m *manifests) listHosts() {
	for _, c := range m.workloads {
		for _, container := range c.workload.Spec.Template.Spec.Runtime.Sandbox.AllContainers() {
			m.listTexts(c, container)
		}
	}
	for _, object := range m.objects {
		id := m.identify(object)
		if m.named[id] == nil {
			continue
		}
		for _, field := range []string{"data", "stringData"} {
			texts, _, _ := unstructured.NestedStringMap(object.Object, field)
			for _, key := range slices.Sorted(maps.Keys(texts)) {
				text, s := texts[key], slot{ofFile, key, m.named[id]}
				if decoded, err := base64.StdEncoding.DecodeString(text); err == nil && id.kind == "Secret" && field == "data" {
					text = string(decoded)
				}
				if !strings.Contains(key, ".") {
					// It may become a variable, and no file.
					s.position = ofVariable
				}
				lost := m.lostIn(strings.TrimSpace(text), id.namespace, s)
				for _, folder := range ofAccounts {
					if folder.isIn(text) {
						lost = append(lost, folder.String())
					}
				}
				for _, what := range lost {
					m.lose(describe(object.Unstructured), field+"["+key+"]", "names "+what)
				}
			}
		}
	}
}

// listTexts lists the texts of a container that name what no cell has.
func (m *manifests) listTexts(c *converted, container *v1alpha.SandboxContainer) {
	namespace, values, own := c.from.namespace, map[string]string{}, c.names()
	list := func(text, where string, s slot) {
		s.own = own
		lost := append(m.lostIn(text, namespace, s), c.lostFolders(container.Name, text)...)
		if len(container.EnvFrom) == 0 {
			// Data that gives a container variables may have any names.
			lost = append(lost, m.variablesOf(text, namespace, values)...)
		}
		for _, what := range lost {
			c.losef("", "%s of container %s names %s", where, container.Name, what)
		}
	}
	for _, variable := range container.Env {
		if values[variable.Name] = expand(variable.Value, values, kubernetesReference); variable.ValueFrom != nil {
			values[variable.Name] = "$(" + variable.Name + ")"
		}
		list(values[variable.Name], "variable "+variable.Name, slot{position: ofVariable, name: variable.Name})
	}
	for _, texts := range textsOf(container) {
		option := "-"
		for i, text := range texts.texts {
			text = expand(text, values, shellReference)
			list(text, fmt.Sprintf("%s[%d]", texts.name, i), slot{position: ofArgument, name: option})
			if option = "-"; strings.HasPrefix(text, "-") && !strings.Contains(text, "=") {
				option = text
			}
		}
	}
}

// kubernetesReference is a reference that Kubernetes expands, and shellReference one that a shell does, too.
var (
	kubernetesReference = regexp.MustCompile(`\$\([^()\s]+\)`)
	shellReference      = regexp.MustCompile(kubernetesReference.String() + `|\$\{(\w+)\}|\$([A-Za-z_]\w*)`)
)

// expand replaces the references to variables in a text by their values, if these are known.
func expand(text string, values map[string]string, references *regexp.Regexp) string {
	return references.ReplaceAllStringFunc(text, func(reference string) string {
		if value, known := values[strings.Trim(reference, "$(){}")]; known {
			return value
		}
		return reference
	})
}
