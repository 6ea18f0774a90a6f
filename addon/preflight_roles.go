// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// shownNames is the maximum number of names in a warning.
const shownNames = 5

// broadRoles are the ClusterRoles to which Karmada adds rights to its own kinds, and the one that has every right.
var broadRoles = []string{"edit", "admin", "cluster-admin", "karmada-edit"}

// checkConsumers names the bindings in projects that let a consumer use Karmada itself.
func (s *session) checkConsumers(ctx context.Context, f *findings) {
	if !isWithoutMilo(s.values) {
		return
	}
	projects, err := s.hub.list(ctx, "v1", "Namespace", client.HasLabels{v1alpha.LabelNamespaceProject})
	if err != nil {
		f.warn("the roles of consumers are not checked: %v", err)
		return
	}
	var broad []string
	for i := range projects {
		bindings, err := s.hub.list(ctx, "rbac.authorization.k8s.io/v1", "RoleBinding", client.InNamespace(projects[i].GetName()))
		if err != nil {
			f.warn("the roles of consumers are not checked: %v", err)
			return
		}
		for j := range bindings {
			if role, isBroad := broadRole(&bindings[j]); isBroad {
				broad = append(broad, fmt.Sprintf("%s/%s (%s)", projects[i].GetName(), bindings[j].GetName(), role))
			}
		}
	}
	if len(broad) > 0 {
		f.warn("RoleBindings in projects give rights to Karmada's kinds: %s; "+
			"bind ClusterRole karmada-compute-consumer instead, see docs/reference/security.md",
			someOf(broad))
	}
}

func broadRole(binding *unstructured.Unstructured) (string, bool) {
	kind, _, _ := unstructured.NestedString(binding.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
	return name, kind == "ClusterRole" && slices.Contains(broadRoles, name)
}

// hubNamespaceForm is the form of the names of hub namespaces.
var hubNamespaceForm = regexp.MustCompile(`^ns-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// namespacePolicy lets only the add-on create hub namespaces.
var namespacePolicy = reference{
	APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy", Name: "karmada-compute-hub-namespaces",
}

// checkHubNamespaces names namespaces that another user could have created, because they are older than the policy that
// reserves their names.
func (s *session) checkHubNamespaces(ctx context.Context, f *findings) {
	policy := namespacePolicy.object()
	err := s.hub.Get(ctx, client.ObjectKeyFromObject(policy), policy)
	if err == nil {
		return
	}
	namespaces, listErr := s.hub.list(ctx, "v1", "Namespace")
	if client.IgnoreNotFound(err) != nil || listErr != nil {
		f.warn("whether others have created hub namespaces is not checked: %v", errors.Join(client.IgnoreNotFound(err), listErr))
		return
	}
	var early []string
	for i := range namespaces {
		if hubNamespaceForm.MatchString(namespaces[i].GetName()) {
			early = append(early, namespaces[i].GetName())
		}
	}
	if len(early) > 0 {
		f.warn("%d namespaces of the hub have names of hub namespaces, and are older than the policy that reserves these: %s; "+
			"if no earlier version of the add-on has created them, delete them",
			len(early), someOf(early))
	}
}

// someOf joins the first names, and the number of the others.
func someOf(names []string) string {
	text := strings.Join(names[:min(shownNames, len(names))], ", ")
	if more := len(names) - shownNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
