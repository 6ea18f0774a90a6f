// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"cmp"
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/testenv/matrix"
)

var update = flag.Bool("update", false, "write the outcomes that the API server gives into testenv/matrix/matrix.yaml")

const (
	matrixHub, matrixProject = "ns-00000000-0000-4000-8000-00000000b001", "matrix-project"
	matrixFree, matrixAgents = "matrix-free", "karmada-compute-system"
)

// place puts the names of this test into a row.
var place = strings.NewReplacer("${cell}", "matrix-other", "${own}", "matrix-own", "${hub}", matrixHub, "${project}", matrixProject,
	"${free}", matrixFree, "${agents}", matrixAgents)

// matrixUsers are the users of the parties, and their groups.
var matrixUsers = map[string][]string{
	"editor": {"matrix-editor"}, "viewer": {"matrix-viewer"}, "creator": {"matrix-creator"},
	"product": {"system:serviceaccount:default:matrix"},
	"agent":   {"system:karmada:agent:matrix-own", "system:karmada:agents"},
}

// verbAttempts make the request of a verb for an object that exists and one that is new.
var verbAttempts = map[string]func(existing, created *unstructured.Unstructured) attempt{
	"create": func(_, created *unstructured.Unstructured) attempt { return create(created) },
	"update": func(existing, _ *unstructured.Unstructured) attempt {
		changed := existing.DeepCopy()
		changed.SetAnnotations(map[string]string{"example.com/matrix": "update"})
		return func(ctx context.Context, c client.Client) error { return c.Update(ctx, changed.DeepCopy()) }
	},
	"patch": func(existing, _ *unstructured.Unstructured) attempt {
		return patch(existing, `{"metadata":{"annotations":{"example.com/matrix":"patch"}}}`)
	},
	"delete":           func(existing, _ *unstructured.Unstructured) attempt { return remove(existing.DeepCopy()) },
	"deletecollection": func(existing, _ *unstructured.Unstructured) attempt { return removeAll(existing.DeepCopy()) },
	"status":           func(existing, _ *unstructured.Unstructured) attempt { return patchStatus(existing, `{"status":{}}`) },
	"finalizers": func(existing, _ *unstructured.Unstructured) attempt {
		return patch(existing, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	},
}

// TestMatrix: for each kind that the add-on reads or relies on, each verb and each party, the API server, with the roles and policies that
// are installed, answers as in the matrix, and each allowed write has a reason. After a change, -args -update writes the outcomes: review
// the difference.
func TestMatrix(t *testing.T) {
	table, err := matrix.Load()
	if err != nil {
		t.Fatal(err)
	}
	checkComplete(t, table)
	admin := clientOf(t, "")
	existing := setUpMatrix(t, admin, table)
	defer removeGuards(t, admin)
	for _, party := range slices.Sorted(maps.Keys(matrixUsers)) {
		c := unprivileged(t, matrixUsers[party][0], matrixUsers[party][1:]...)
		for i, row := range table.Rows {
			created := sample(t, row, place.Replace(cmp.Or(row.New, "new")))
			var outcomes []string
			for _, verb := range matrix.Verbs {
				outcome := outcomeOf(verbAttempts[verb](existing[i], created)(t.Context(), c))
				want := row.Outcome(party, verb)
				if slices.Contains(strings.Split(want, "|"), outcome) {
					outcome = want
				} else if !*update {
					t.Errorf("%s: %s may %s: %s, but the matrix has %q", row, party, verb, outcome, want)
				}
				outcomes = append(outcomes, outcome)
			}
			row.Set(party, outcomes)
			if slices.Contains(outcomes, matrix.Allowed) != (row.Harmless[party] != "") && !*update {
				t.Errorf("%s: %s: %v, and the reason why that is harmless is %q", row, party, outcomes, row.Harmless[party])
			}
		}
	}
	if *update {
		if err := table.Store(filepath.Join("..", "testenv", "matrix", "matrix.yaml")); err != nil {
			t.Fatal(err)
		}
	}
}

var ofPolicy = regexp.MustCompile(`ValidatingAdmissionPolicy 'karmada-compute-([a-z-]+)'`)

// outcomeOf names what answered a request.
func outcomeOf(err error) string {
	if err == nil {
		return matrix.Allowed
	}
	// Admission has let it pass.
	if apierrors.IsAlreadyExists(err) {
		return matrix.Allowed
	}
	found := ofPolicy.FindStringSubmatch(err.Error())
	switch {
	case found != nil:
		return found[1]
	// A kind without a status subresource answers that the object is not found.
	case apierrors.IsMethodNotSupported(err), apierrors.IsNotFound(err):
		return matrix.None
	case apierrors.IsForbidden(err):
		return matrix.RBAC
	default:
		return err.Error()
	}
}

// checkComplete checks that each party and verb of the matrix is tried, and that each resource that a role of the add-on
// on the hub names has a row.
func checkComplete(t *testing.T, table *matrix.Matrix) {
	t.Helper()
	if tried, described := slices.Sorted(maps.Keys(matrixUsers)), slices.Sorted(maps.Keys(table.Parties)); !slices.Equal(tried, described) {
		t.Errorf("parties %v are tried, and %v described", tried, described)
	}
	if tried, verbs := slices.Sorted(maps.Keys(verbAttempts)), slices.Sorted(slices.Values(matrix.Verbs)); !slices.Equal(tried, verbs) {
		t.Errorf("verbs %v are tried, and %v are in the matrix", tried, verbs)
	}
	kinds := map[string]bool{
		// Questions and impersonation, which store nothing, and what consumers and their operators write: admission reviews it.
		"tokenreview": true, "subjectaccessreview": true, "user": true, "network": true, "networkbinding": true,
		"workload": true, "instance": true, "workloadrevision": true, "instancesession": true,
	}
	for _, row := range table.Rows {
		kinds[strings.ToLower(row.Kind)] = true
	}
	for _, file := range []string{"hub", "namespaces", "namespace", "webhook-hub", "sessions-hub", "sessions-server"} {
		content, err := charts.FS.ReadFile("karmada-compute/files/roles/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(content), "---\n") {
			role := rbacv1.ClusterRole{}
			if err := yaml.Unmarshal([]byte(document), &role); err != nil {
				t.Fatal(err)
			}
			for _, rule := range role.Rules {
				for _, resource := range rule.Resources {
					plural, _, _ := strings.Cut(resource, "/")
					if !kinds[singular(plural)] {
						t.Errorf("role %s names %s, of which the matrix has no row", file, plural)
					}
				}
			}
		}
	}
}

func singular(plural string) string {
	if base, ok := strings.CutSuffix(plural, "ies"); ok {
		return base + "y"
	}
	return strings.TrimSuffix(plural, "s")
}

// sample is an object of a row with a name.
func sample(t *testing.T, row *matrix.Row, name string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.Marshal(row.Content)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(place.Replace(string(content))), &object.Object); err != nil {
		t.Fatal(err)
	}
	if object.Object == nil {
		object.Object = map[string]any{}
	}
	if row.Kind == "CustomResourceDefinition" {
		plural, _, _ := strings.Cut(name, ".")
		setField(t, object, plural, "spec", "names", "plural")
	}
	object.SetAPIVersion(row.APIVersion)
	object.SetKind(row.Kind)
	object.SetNamespace(place.Replace(row.Namespace))
	object.SetName(name)
	switch {
	case row.Namespace == "${hub}":
		labelled(object, map[string]string{v1alpha.LabelDeploymentUID: "u", v1alpha.LabelTopologyCity: "dfw"})
	case row.Kind == "DNSEndpoint":
		object.SetLabels(ofWorkload)
	}
	return object
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

// setUpMatrix installs the hub's part of the chart, gives each party its rights, and creates the object of each row.
func setUpMatrix(t *testing.T, admin client.Client, table *matrix.Matrix) []*unstructured.Unstructured {
	t.Helper()
	removeGuards(t, admin)
	for _, name := range []string{"karmada-system", "karmada-cluster", matrixFree, matrixAgents, "karmada-es-matrix-other"} {
		ensureNamespace(t, admin, name)
	}
	ensure(t, admin, labelled(namespace(matrixHub)))
	project := namespace(matrixProject)
	project.Labels = map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject}
	ensure(t, admin, project)
	ensure(t, admin, hubSpaceOf(t, admin, "ns-00000000-0000-4000-8000-00000000b002", matrixProject))
	for _, object := range append(readAgentRights(t), matrixRights()...) {
		ensure(t, admin, object)
		t.Cleanup(func() { unregister(t, admin, object) })
	}
	var existing []*unstructured.Unstructured
	for _, row := range table.Rows {
		object := sample(t, row, place.Replace(row.Name))
		if row.Kind != "Namespace" {
			ensure(t, admin, object)
			t.Cleanup(func() { unregister(t, admin, object) })
		}
		stored := sample(t, row, place.Replace(row.Name))
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
			t.Fatal(err)
		}
		existing = append(existing, stored)
	}
	kinds := []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ClusterRole"}
	install(t, admin, slices.DeleteFunc(render(t, parts["hub"], set{"projects.mode": "namespaces"}), func(o *unstructured.Unstructured) bool {
		return !slices.Contains(kinds, o.GetKind())
	}))
	return existing
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
		kind, subject := "RoleBinding", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: matrixUsers[party][0]}
		if namespace == "" {
			kind = "ClusterRoleBinding"
		}
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
			"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": "ClusterRole", "name": role},
			"subjects": []any{map[string]any{"apiGroup": subject.APIGroup, "kind": subject.Kind, "name": subject.Name}},
		}}
		object.SetNamespace(namespace)
		object.SetName(strings.ReplaceAll("matrix-"+party+"-"+role, ":", "-"))
		objects = append(objects, object)
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
