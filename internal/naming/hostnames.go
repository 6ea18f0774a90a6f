// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Hostnames are the operator's rules for the DNS names of Workloads. The zero value allows none.
type Hostnames struct {
	// Pattern is the name that every exposed Workload gets, such as {workload}.{project}.apps.example.com; "": none.
	Pattern string
	// Domains are the domains in which the Workloads of a project may ask for names, by project.
	Domains map[string][]string
}

// MaxAddresses is the most addresses of a city in a name: 48 cities have less than 1000, which external-dns' kind allows.
const MaxAddresses = 20

// drainMargin is how long the other steps take after a city begins to leave its names: the write of the name, the
// provider of DNS, and the connections of clients.
const drainMargin = 10 * time.Second

// DrainFor is how long Instances must run after their city begins to leave a name whose answers resolvers use for ttl.
func DrainFor(ttl time.Duration) time.Duration { return ttl + drainMargin }

// HostnameOf identifies a Workload for the pattern.
type HostnameOf struct{ Workload, Namespace, Project string }

// placeholder is a word in braces in a pattern.
var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// ParseHostnames reads a pattern and the allowed domains, each as PROJECT=DOMAIN. It returns all mistakes at once.
func ParseHostnames(pattern string, domains []string) (Hostnames, error) {
	result := Hostnames{Pattern: pattern, Domains: map[string][]string{}}
	mistakes := []error{checkPattern(pattern)}
	for _, pair := range domains {
		project, domain, isPair := strings.Cut(pair, "=")
		switch {
		case !isPair || project == "":
			mistakes = append(mistakes, fmt.Errorf("%q is no PROJECT=DOMAIN, such as shop=shop.example.com", pair))
		case !isHostname(domain):
			mistakes = append(mistakes, fmt.Errorf("domain %q of project %s: use a DNS name in lower case, such as shop.example.com",
				domain, project))
		case isWithin(domain, result.patternDomain()):
			mistakes = append(mistakes, fmt.Errorf("domain %s of project %s: the pattern gives the names of this domain; allow another one",
				domain, project))
		default:
			result.Domains[project] = append(result.Domains[project], domain)
		}
	}
	return result, errors.Join(mistakes...)
}

func checkPattern(pattern string) error {
	if pattern == "" {
		return nil
	}
	for _, word := range placeholder.FindAllString(pattern, -1) {
		if !slices.Contains([]string{"{workload}", "{namespace}", "{project}"}, word) {
			return fmt.Errorf("pattern %q: use {workload}, {namespace} and {project} instead of %s", pattern, word)
		}
	}
	example := Hostnames{Pattern: pattern}
	if !strings.Contains(pattern, "{workload}") {
		return fmt.Errorf("pattern %q: it must contain {workload}; Workloads would have one name together", pattern)
	}
	if domain := example.patternDomain(); !strings.Contains(domain, ".") ||
		!isHostname(example.ByPattern(HostnameOf{Workload: "w", Namespace: "n", Project: "p"})) {
		return fmt.Errorf("pattern %q: it must be a DNS name that ends with a domain, such as {workload}.{project}.apps.example.com", pattern)
	}
	return nil
}

// Any reports whether a Workload can have a name.
func (h *Hostnames) Any() bool { return h.Pattern != "" || len(h.Domains) > 0 }

// ByPattern returns the name that the pattern gives a Workload; "": there is no pattern. It may be no valid name.
func (h *Hostnames) ByPattern(hostnames HostnameOf) string {
	values := strings.NewReplacer("{workload}", hostnames.Workload, "{namespace}", hostnames.Namespace, "{project}", hostnames.Project)
	return values.Replace(h.Pattern)
}

// Refusal returns why a Workload of a project may not ask for a name; "": it may.
func (h *Hostnames) Refusal(project, name string) string {
	domains := h.Domains[project]
	switch {
	case !isHostname(name):
		return "must be a DNS name in lower case, at most 253 bytes long, with labels of at most 63"
	case isWithin(name, h.patternDomain()):
		return fmt.Sprintf("names in %s are given by the operator's pattern; use another domain", h.patternDomain())
	case slices.ContainsFunc(domains, func(domain string) bool { return isWithin(name, domain) }):
		return ""
	case len(domains) == 0:
		return fmt.Sprintf("the operator allows no domain for project %s; ask the operator for one", project)
	}
	const most = 5
	return fmt.Sprintf("must be in a domain that the operator allows for project %s: %s",
		project, strings.Join(domains[:min(len(domains), most)], ", "))
}

// Exclusive returns the names of a Workload that no Workload of another project can have: the name by the pattern, if it tells
// the project, and the asked ones whose domains no other project has. Requests for other names could reach another project at a
// Gateway that both use.
func (h *Hostnames) Exclusive(hostnames HostnameOf, asked []string) []string {
	var names []string
	if h.tells(hostnames.Project) && h.PatternRefusal(hostnames) == "" {
		names = append(names, h.ByPattern(hostnames))
	}
	for _, name := range asked {
		if h.Refusal(hostnames.Project, name) == "" && !h.isShared(hostnames.Project, name) {
			names = append(names, name)
		}
	}
	return names
}

// tells reports whether the name that the pattern gives tells a project from all others that it tells: the project is a label, or
// the first or last part of one that has it with a dash. There it must have no dash itself: web-a-b could be Workload web of
// project a-b, or web-a of b.
func (h *Hostnames) tells(project string) bool {
	const placeholder = "{project}"
	return slices.ContainsFunc(strings.Split(h.Pattern, "."), func(label string) bool {
		isPart := strings.HasPrefix(label, placeholder+"-") || strings.HasSuffix(label, "-"+placeholder)
		return label == placeholder || isPart && !strings.Contains(project, "-")
	})
}

// isShared reports whether another project may ask for a name, too.
func (h *Hostnames) isShared(project, name string) bool {
	for other, domains := range h.Domains {
		if other != project && slices.ContainsFunc(domains, func(domain string) bool { return isWithin(name, domain) }) {
			return true
		}
	}
	return false
}

// PatternRefusal returns why a Workload cannot have the name that the pattern gives it; "": it can.
func (h *Hostnames) PatternRefusal(hostnames HostnameOf) string {
	if isHostname(h.ByPattern(hostnames)) {
		return ""
	}
	return fmt.Sprintf("the pattern %s gives the Workload no valid DNS name", h.Pattern)
}

// patternDomain is the end of the pattern that all names have: what follows the last placeholder, and the dot after it.
func (h *Hostnames) patternDomain() string {
	tail := h.Pattern[strings.LastIndexByte(h.Pattern, '}')+1:]
	_, domain, _ := strings.Cut(tail, ".")
	return domain
}

// isWithin reports whether a name is the domain or in it. No name is in the domain "".
func isWithin(name, domain string) bool {
	return domain != "" && (name == domain || strings.HasSuffix(name, "."+domain))
}

// isHostname reports whether a name is a DNS name in lower case that is no IP address.
func isHostname(name string) bool {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	return !slices.ContainsFunc(strings.Split(name, "."), func(label string) bool { return len(label) > maxLabelLength })
}
