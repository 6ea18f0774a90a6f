// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Names are the operator's settings for the DNS names of Workloads.
type Names struct {
	// Rules say which names Workloads have.
	Rules naming.Hostnames
	// TTL is how long a resolver may use an answer.
	TTL time.Duration
}

// Hostnames returns the problems of the DNS names of a Workload of a project. On an update, before is the stored
// Workload. Names that it has too are not reported: the operator may have withdrawn a domain since.
func (n *Names) Hostnames(project string, workload, before *v1alpha.Workload) field.ErrorList {
	service := workload.Spec.Service
	if service == nil {
		return nil
	}
	var stored []string
	if before != nil && before.Spec.Service != nil {
		stored = before.Spec.Service.Hostnames
	}
	at := field.NewPath("spec", "service", "hostnames")
	seen := sets.New[string]()
	problems := n.routes(project, workload, before)
	for i, name := range service.Hostnames[:min(len(service.Hostnames), maxHostnames)] {
		if seen.Has(name) {
			problems = append(problems, field.Duplicate(at.Index(i), shown(name)))
			continue
		}
		seen.Insert(name)
		if refusal := n.Rules.Refusal(project, name); refusal != "" && !slices.Contains(stored, name) {
			problems = append(problems, field.Invalid(at.Index(i), shown(name), refusal))
		}
	}
	return problems
}

// routes returns the problems of a Workload at Gateways, which share their addresses among projects.
func (n *Names) routes(project string, workload, before *v1alpha.Workload) (problems field.ErrorList) {
	service := workload.Spec.Service
	if !service.Routed() || before != nil && before.Spec.Service.Routed() && slices.Equal(before.Spec.Service.Hostnames, service.Hostnames) {
		return nil
	}
	at := field.NewPath("spec", "service")
	hostnames := naming.HostnameOf{Workload: cmp.Or(workload.Name, workload.GenerateName+"x"), Namespace: workload.Namespace, Project: project}
	routed := n.Rules.Exclusive(hostnames, service.Hostnames)
	for i, name := range service.Hostnames[:min(len(service.Hostnames), maxHostnames)] {
		if n.Rules.Refusal(project, name) == "" && !slices.Contains(routed, name) {
			problems = append(problems, field.Invalid(at.Child("hostnames").Index(i), shown(name),
				"another project may have names in its domain: with exposure Gateway, use a domain of this project alone"))
		}
	}
	if len(routed) == 0 && len(problems) == 0 {
		problems = append(problems, field.Invalid(at.Child("exposure"), string(service.Exposure), "needs a DNS name that no other project can "+
			"have: add one in a domain of the project to hostnames, or ask the operator for a pattern with the project as a label"))
	}
	return problems
}

// Warnings warns of Instances that stop while resolvers still have the addresses of their city.
func (n *Names) Warnings(workload *v1alpha.Workload) []string {
	service := workload.Spec.Service
	if !service.Exposed() || n.Rules.Pattern == "" && len(service.Hostnames) == 0 {
		return nil
	}
	needed := int32(naming.DrainFor(n.TTL).Seconds())
	if seconds := ptr.Deref(service.DrainSeconds, needed); seconds < needed {
		return []string{fmt.Sprintf("spec.service.drainSeconds: resolvers use the addresses of a removed city for up to %s: set it to %d or "+
			"more, or remove it", n.TTL, needed)}
	}
	return nil
}
