// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"
)

// files are the roles of the add-on.
var files = []string{
	"hub/role.yaml", "namespace/role.yaml", "project/role.yaml", "namespaces/role.yaml", "webhooks/hub/role.yaml",
	"webhooks/project/role.yaml",
	"sessions/hub/role.yaml", "sessions/server/role.yaml", "sessions/streams/role.yaml", "sessions/project/role.yaml",
	"../../cell/access/role.yaml",
	"consumers/consumer/role.yaml", "consumers/viewer/role.yaml", "consumers/types/role.yaml",
}

// ofData are the verbs on the ConfigMaps and Secrets of all namespaces, by role: the objects that templates name are
// read in the projects, and listed in the cells, where their metadata is enough. The role of a hub namespace is bound
// there alone.
var ofData = map[string][]string{
	"namespace/role.yaml":         {"create", "delete", "get", "list", "patch"},
	"project/role.yaml":           {"get", "list", "watch"},
	"namespaces/role.yaml":        {"get", "list", "watch"},
	"../../cell/access/role.yaml": {"list", "watch"},
	// It is bound in projects that are namespaces, where a consumer keeps the data of templates.
	"consumers/consumer/role.yaml": {"create", "delete", "get", "list", "patch", "update", "watch"},
}

// ofBindings are the rights to RoleBindings: to create them, which RBAC cannot restrict by name; to update the add-on's
// own, by name; and to bind one role, so that creation is useless for other roles. And to see who has rights in the
// namespace of a cell, and in the ClusterRoleBindings and their roles whether agents may write Clusters.
var ofBindings = []rbacv1.PolicyRule{
	{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}, Verbs: []string{"create", "list"}},
	{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, Verbs: []string{"get"}},
	{
		APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"},
		ResourceNames: []string{"karmada-compute"}, Verbs: []string{"get", "list", "patch", "watch"},
	},
	{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterrolebindings"}, Verbs: []string{"list"}},
	{
		APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"},
		ResourceNames: []string{"karmada-compute-namespace"}, Verbs: []string{"bind"},
	},
}

// ofStreams is the right to make requests as the one user that has only the streams of sessions.
var ofStreams = rbacv1.PolicyRule{
	APIGroups: []string{""}, Resources: []string{"users"}, ResourceNames: []string{"karmada-compute-sessions"}, Verbs: []string{"impersonate"},
}

// TestRolesAreNarrow: no role of the add-on has a wildcard, has more rights on Secrets than it needs to copy the data
// of templates and to keep its own CA and paths, may write webhook configurations of others, or can escalate rights.
func TestRolesAreNarrow(t *testing.T) {
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rules := 0
		for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
			var role rbacv1.ClusterRole
			if err := yaml.UnmarshalStrict(document, &role); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, rule := range role.Rules {
				if rules++; file == "hub/role.yaml" && (isOfBindings(rule) || equality.Semantic.DeepEqual(rule, ofDataKey)) {
					continue
				}
				if file == "sessions/hub/role.yaml" && equality.Semantic.DeepEqual(rule, ofStreams) {
					continue
				}
				checkRule(t, file, role.Namespace, rule)
				if strings.HasPrefix(file, "consumers/") && slices.ContainsFunc(rule.APIGroups, isKarmadas) {
					t.Errorf("%s: a consumer could reach cells past the add-on by %+v", file, rule)
				}
			}
		}
		if rules == 0 {
			t.Errorf("%s has no rule", file)
		}
	}
}

// isOfBindings reports whether a rule is about RoleBindings.
func isOfBindings(rule rbacv1.PolicyRule) bool {
	return slices.ContainsFunc(ofBindings, func(known rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(known, rule) })
}

func isKarmadas(group string) bool { return strings.HasSuffix(group, "karmada.io") }

// ofDataKey is the right to the key of the hashes of data, which no replica changes.
var ofDataKey = rbacv1.PolicyRule{
	APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"karmada-compute-data-key"}, Verbs: []string{"get"},
}

// ownNames returns the names that a rule of a sensitive resource may have.
func ownNames(file, resource string) (names []string, sensitive bool) {
	if file == "sessions/server/role.yaml" && resource == "secrets" {
		return []string{"karmada-compute-webhook-ca"}, true
	}
	names, sensitive = map[string][]string{
		"secrets": {"karmada-compute-webhook-ca", "karmada-compute-webhook-path"},
		"resourceinterpreterwebhookconfigurations": {"karmada-compute"},
		"validatingwebhookconfigurations":          {"karmada-compute"},
	}[resource]
	return names, sensitive
}

func checkRule(t *testing.T, file, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	for _, words := range [][]string{rule.Verbs, rule.Resources, rule.APIGroups} {
		if slices.Contains(words, "*") {
			t.Errorf("%s: wildcard in %+v", file, rule)
		}
	}
	for _, verb := range []string{"escalate", "bind", "impersonate", "deletecollection"} {
		if slices.Contains(rule.Verbs, verb) {
			t.Errorf("%s: verb %s in %+v", file, verb, rule)
		}
	}
	if slices.Contains(rule.APIGroups, rbacv1.GroupName) || slices.Contains(rule.Resources, "serviceaccounts/token") {
		t.Errorf("%s: %+v", file, rule)
	}
	for _, resource := range rule.Resources {
		if namespace == "" && (resource == "secrets" || resource == "configmaps") {
			if !slices.Equal(slices.Sorted(slices.Values(rule.Verbs)), ofData[file]) {
				t.Errorf("%s: %s in %+v, only %v is needed", file, resource, rule, ofData[file])
			}
			continue
		}
		names, sensitive := ownNames(file, resource)
		// RBAC cannot restrict a creation by name.
		if sensitive && !slices.Equal(rule.Verbs, []string{"create"}) && !slices.Equal(rule.ResourceNames, names) {
			t.Errorf("%s: %s other than %s in %+v", file, resource, names, rule)
		}
	}
}

// TestConsumersListTheCategory: `kubectl get compute` answers 0 to a consumer, whose role and the one of types list every kind of the
// category.
func TestConsumersListTheCategory(t *testing.T) {
	crds, err := filepath.Glob("../../api/crds/*.yaml")
	if err != nil || len(crds) == 0 {
		t.Fatalf("%d kinds, %v", len(crds), err)
	}
	for _, reader := range []string{"consumer", "viewer"} {
		for _, file := range crds {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			load(t, file, crd)
			if !slices.Contains(crd.Spec.Names.Categories, "compute") {
				continue
			}
			role := &rbacv1.ClusterRole{}
			if load(t, "consumers/"+reader+"/role.yaml", role); crd.Spec.Scope == apiextensionsv1.ClusterScoped {
				load(t, "consumers/types/role.yaml", role)
			}
			if !slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
				return slices.Contains(rule.APIGroups, crd.Spec.Group) && slices.Contains(rule.Resources, crd.Spec.Names.Plural) &&
					slices.Contains(rule.Verbs, "list")
			}) {
				t.Errorf("a %s may not list %s, which kubectl get compute lists", reader, crd.Spec.Names.Plural)
			}
		}
	}
}

func load(t *testing.T, file string, object any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(content, object)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
