// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

var hubParties = map[string][]string{
	"editor": {"matrix-editor"}, "viewer": {"matrix-viewer"}, "creator": {"matrix-creator"},
	"product": {"system:serviceaccount:default:matrix"},
	"agent":   {"system:karmada:agent:matrix-own", "system:karmada:agents"},
}

// readAgentRights are the roles of the karmada-agent of a cell.
func readAgentRights(t *testing.T) []client.Object {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "test", "federation", "objects", "agent.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var objects []client.Object
	for document := range strings.SplitSeq(strings.ReplaceAll(string(content), "{{cluster}}", "matrix-own"), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// setUpMatrixHub installs the hub's part of the chart, once the objects of the rows exist, and gives each party its rights.
func setUpMatrixHub(t *testing.T, admin client.Client, store func(client.Client)) {
	t.Helper()
	for _, name := range []string{"karmada-system", "karmada-cluster", matrixFree, matrixAgents, "karmada-es-matrix-other"} {
		ensureNamespace(t, admin, name)
	}
	ensure(t, admin, labelled(namespace(matrixHub)))
	project := namespace(matrixProject)
	project.Labels = map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject}
	ensure(t, admin, project)
	ensure(t, admin, hubSpaceOf(t, admin, "ns-00000000-0000-4000-8000-00000000b002", matrixProject))
	ensureAll(t, admin, append(readAgentRights(t), matrixRights()...)...)
	store(admin)
	kinds := []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ClusterRole"}
	install(t, admin, slices.DeleteFunc(render(t, parts["hub"], set{"projects.mode": "namespaces"}), func(o *unstructured.Unstructured) bool {
		return !slices.Contains(kinds, o.GetKind())
	}))
}

// matrixRights are the rights of the parties but the agent. Nothing aggregates roles here: edit and view are their parts.
func matrixRights() []client.Object {
	all := []string{"create", "update", "patch", "delete", "deletecollection", "get", "list", "watch"}
	karmada := []rbacv1.PolicyRule{
		{APIGroups: []string{"policy.karmada.io"}, Resources: []string{"overridepolicies", "propagationpolicies"}, Verbs: all},
		{
			APIGroups: []string{"work.karmada.io"}, Verbs: all,
			Resources: []string{"resourcebindings", "resourcebindings/status", "works", "works/status"},
		},
	}
	seen := []rbacv1.PolicyRule{karmada[0], karmada[1]}
	for i := range seen {
		seen[i].Verbs = []string{"get", "list", "watch"}
	}
	groups := []string{"", "work.karmada.io", "policy.karmada.io", "coordination.k8s.io", "externaldns.k8s.io", v1alpha.GroupVersion.Group}
	roles := map[string][]rbacv1.PolicyRule{
		"matrix-edit": karmada, "matrix-view": seen,
		"matrix-creator": {{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: all}},
		"matrix-product": {{APIGroups: groups, Resources: []string{"*"}, Verbs: []string{"*"}}},
	}
	var objects []client.Object
	for name, rules := range roles {
		objects = append(objects, &rbacv1.ClusterRole{ObjectMeta: named("", name), Rules: rules})
	}
	bind := func(party, namespace, role string) {
		objects = append(objects, bindParty(namespace, role, hubParties[party][0]))
	}
	for _, space := range []string{matrixFree, matrixProject} {
		for _, role := range []string{"matrix-view", "system:aggregate-to-view", "karmada-compute-viewer"} {
			bind("viewer", space, role)
		}
		for _, role := range []string{"matrix-edit", "system:aggregate-to-edit", "karmada-compute-consumer"} {
			bind("editor", space, role)
			if space == matrixFree {
				bind("creator", space, role)
			}
		}
	}
	bind("creator", "", "matrix-creator")
	bind("product", "", "matrix-product")
	return objects
}
