// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
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
	// matrixCopies is a hub namespace as a cell has it.
	matrixCopies = "ns-00000000-0000-4000-8000-00000000b003"
)

// A matrixPlane has the parties and the setup of one plane.
type matrixPlane struct {
	// users are the users of the parties, and their groups.
	users map[string][]string
	// roles are the files of the roles that the add-on, consumers and sessions have on the plane.
	roles []string
	// place puts the names of this test into a row.
	place *strings.Replacer
	// setUp installs the plane's part of the chart, gives each party its rights, and creates the object of each row with
	// store.
	setUp func(t *testing.T, admin client.Client, store func(client.Client))
}

var matrixPlanes = map[string]matrixPlane{
	matrix.Hub: {
		users: hubParties,
		roles: []string{"hub", "namespaces", "namespace", "types", "webhook-hub", "sessions-hub", "sessions-server", "sessions-streams"},
		place: strings.NewReplacer("${cell}", "matrix-other", "${own}", "matrix-own", "${hub}", matrixHub, "${project}", matrixProject,
			"${free}", matrixFree, "${agents}", matrixAgents),
		setUp: setUpMatrixHub,
	},
	matrix.Project: {
		users: projectParties,
		roles: []string{"project", "webhook-project", "sessions-project", "consumer", "viewer"},
		place: strings.NewReplacer("${project}", "matrix-of-milo"),
		setUp: setUpMatrixProject,
	},
	matrix.Cell: {
		users: cellParties,
		roles: []string{"cell", "cell-sessions", "cell-streams"},
		place: strings.NewReplacer("${hub}", matrixCopies, "${agents}", matrixAgents, "${free}", matrixFree),
		setUp: setUpMatrixCell,
	},
}

// verbAttempts make the request of a verb for an object that exists and one that is new.
var verbAttempts = map[string]func(row *matrix.Row, existing, created *unstructured.Unstructured) attempt{
	"create": func(_ *matrix.Row, _, created *unstructured.Unstructured) attempt { return create(created) },
	"update": func(row *matrix.Row, existing, _ *unstructured.Unstructured) attempt {
		changed := changedBy(existing, changeOf(row, "update"))
		return func(ctx context.Context, c client.Client) error { return c.Update(ctx, changed.DeepCopy()) }
	},
	"patch": func(row *matrix.Row, existing, _ *unstructured.Unstructured) attempt {
		return patch(existing, changeOf(row, "patch"))
	},
	"delete": func(_ *matrix.Row, existing, _ *unstructured.Unstructured) attempt {
		return remove(existing.DeepCopy())
	},
	"deletecollection": func(_ *matrix.Row, existing, _ *unstructured.Unstructured) attempt { return removeAlike(existing) },
	"status": func(row *matrix.Row, existing, _ *unstructured.Unstructured) attempt {
		return patchStatus(existing, statusOf(row))
	},
	"finalizers": func(_ *matrix.Row, existing, _ *unstructured.Unstructured) attempt {
		return patch(existing, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	},
}

// changeOf returns the patch of a verb: the row's change without its status, or an annotation of others.
func changeOf(row *matrix.Row, verb string) string {
	change := maps.Clone(row.Change)
	delete(change, "status")
	if len(change) == 0 {
		return `{"metadata":{"annotations":{"example.com/matrix":"` + verb + `"}}}`
	}
	return asJSON(change)
}

func statusOf(row *matrix.Row) string {
	if status, ok := row.Change["status"]; ok {
		return asJSON(map[string]any{"status": status})
	}
	return `{"status":{}}`
}

func asJSON(change map[string]any) string {
	content, err := json.Marshal(change)
	if err != nil {
		panic(err) // it was read as JSON
	}
	return string(content)
}

// changedBy returns an object after a merge patch.
func changedBy(existing *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	changed := &unstructured.Unstructured{}
	content, err := jsonpatch.MergePatch([]byte(asJSON(existing.Object)), []byte(patch))
	if err == nil {
		err = json.Unmarshal(content, &changed.Object)
	}
	if err != nil {
		panic(err) // both are JSON
	}
	return changed
}

// removeAlike deletes the objects in the namespace that have the labels of obj, as a collection.
func removeAlike(obj *unstructured.Unstructured) attempt {
	return func(ctx context.Context, c client.Client) error {
		return c.DeleteAllOf(ctx, obj.DeepCopy(), client.InNamespace(obj.GetNamespace()), client.MatchingLabels(obj.GetLabels()))
	}
}

// TestMatrix: for each plane, each kind that the add-on reads or relies on there, each verb and each party, the API server, with the roles
// and policies that are installed, answers as in the matrix, and each allowed write has a reason. After a change, -args -update writes the
// outcomes: review the difference.
func TestMatrix(t *testing.T) {
	table, err := matrix.Load()
	if err != nil {
		t.Fatal(err)
	}
	checkComplete(t, table)
	for _, name := range []string{matrix.Hub, matrix.Project, matrix.Cell} {
		t.Run(name, func(t *testing.T) { tryMatrix(t, table.On(name), matrixPlanes[name]) })
	}
	if *update {
		if err := table.Store(filepath.Join("..", "testenv", "matrix", "matrix.yaml")); err != nil {
			t.Fatal(err)
		}
	}
}

// tryMatrix tries each row of a plane as each of its parties.
func tryMatrix(t *testing.T, table *matrix.Matrix, plane matrixPlane) {
	t.Helper()
	admin := clientOf(t, "")
	removeGuards(t, admin)
	defer removeGuards(t, admin)
	var existing []*unstructured.Unstructured
	plane.setUp(t, admin, func(c client.Client) { existing = storeRows(t, c, table.Rows, plane.place) })
	for _, party := range slices.Sorted(maps.Keys(plane.users)) {
		c := unprivileged(t, plane.users[party][0], plane.users[party][1:]...)
		for i, row := range table.Rows {
			created := sample(t, row, plane.place, cmp.Or(row.New, "new"))
			var outcomes []string
			for _, verb := range matrix.Verbs {
				outcome := outcomeOf(verbAttempts[verb](row, existing[i], created)(t.Context(), c))
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

// notInMatrix are the kinds of questions, and users, which are impersonated: none is stored.
var notInMatrix = []string{"tokenreview", "subjectaccessreview", "user"}

// checkComplete checks that each party and verb of the matrix is tried, and that each resource that a role of the add-on
// names has a row on its plane.
func checkComplete(t *testing.T, table *matrix.Matrix) {
	t.Helper()
	if tried, verbs := slices.Sorted(maps.Keys(verbAttempts)), slices.Sorted(slices.Values(matrix.Verbs)); !slices.Equal(tried, verbs) {
		t.Errorf("verbs %v are tried, and %v are in the matrix", tried, verbs)
	}
	var files []string
	rows, parties := 0, 0
	for name, plane := range matrixPlanes {
		of := table.On(name)
		if tried, described := slices.Sorted(maps.Keys(plane.users)), slices.Sorted(maps.Keys(of.Parties)); !slices.Equal(tried, described) {
			t.Errorf("plane %s: parties %v are tried, and %v described", name, tried, described)
		}
		files, rows, parties = append(files, plane.roles...), rows+len(of.Rows), parties+len(of.Parties)
		checkRoles(t, name, plane.roles, kindsOfRows(table, name))
	}
	if rows != len(table.Rows) || parties != len(table.Parties) {
		t.Errorf("%d rows and %d parties are of a plane that is tried, of %d and %d", rows, parties, len(table.Rows), len(table.Parties))
	}
	stored, err := charts.FS.ReadDir("karmada-compute/files/roles")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stored {
		if !slices.Contains(files, strings.TrimSuffix(file.Name(), ".yaml")) {
			t.Errorf("the roles of %s are of no plane", file.Name())
		}
	}
}

// kindsOfRows are the kinds that have rows on a plane. Without Milo, projects are namespaces of the hub: it has their kinds,
// too, which admission reviews there.
func kindsOfRows(table *matrix.Matrix, plane string) map[string]bool {
	rows := table.On(plane).Rows
	if plane == matrix.Hub {
		rows = append(rows, table.On(matrix.Project).Rows...)
	}
	kinds := map[string]bool{}
	for _, row := range rows {
		kinds[strings.ToLower(row.Kind)] = true
	}
	return kinds
}

func checkRoles(t *testing.T, plane string, files []string, kinds map[string]bool) {
	t.Helper()
	for _, file := range files {
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
					if kind := singular(plural); !kinds[kind] && !slices.Contains(notInMatrix, kind) {
						t.Errorf("role %s names %s, of which the matrix has no row on plane %s", file, plural, plane)
					}
				}
			}
		}
	}
}

func singular(plural string) string {
	for ending, replacement := range map[string]string{"ies": "y", "sses": "ss"} {
		if base, ok := strings.CutSuffix(plural, ending); ok {
			return base + replacement
		}
	}
	return strings.TrimSuffix(plural, "s")
}

// sample is an object of a row with a name.
func sample(t *testing.T, row *matrix.Row, place *strings.Replacer, name string) *unstructured.Unstructured {
	t.Helper()
	name = place.Replace(name)
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
	case row.Plane == "" && row.Namespace == "${hub}":
		labelled(object, map[string]string{v1alpha.LabelDeploymentUID: "u", v1alpha.LabelTopologyCity: "dfw"})
	case row.Kind == "DNSEndpoint":
		object.SetLabels(ofWorkload)
	}
	return object
}

// storeRows creates the object of each row, with its status, unless it exists.
func storeRows(t *testing.T, c client.Client, rows []*matrix.Row, place *strings.Replacer) []*unstructured.Unstructured {
	t.Helper()
	var existing []*unstructured.Unstructured
	for _, row := range rows {
		stored := sample(t, row, place, row.Name)
		err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), stored)
		if apierrors.IsNotFound(err) {
			stored = sample(t, row, place, row.Name)
			status, reported := stored.Object["status"]
			err = c.Create(t.Context(), stored)
			t.Cleanup(func() { unregister(t, c, stored) })
			if err == nil && reported {
				stored.Object["status"] = status
				err = c.Status().Update(t.Context(), stored)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		existing = append(existing, stored)
	}
	return existing
}

// bindParty gives users a ClusterRole in a namespace, or in all of them.
func bindParty(namespace, role string, users ...string) *unstructured.Unstructured {
	kind := "RoleBinding"
	if namespace == "" {
		kind = "ClusterRoleBinding"
	}
	var subjects []any
	for _, user := range users {
		subjects = append(subjects, map[string]any{"apiGroup": rbacv1.GroupName, "kind": rbacv1.UserKind, "name": user})
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "subjects": subjects,
		"roleRef": map[string]any{"apiGroup": rbacv1.GroupName, "kind": "ClusterRole", "name": role},
	}}
	object.SetNamespace(namespace)
	object.SetName(strings.ReplaceAll(strings.Join(users, "-")+"-"+role, ":", "-"))
	return object
}

// ensureAll creates objects until the test ends.
func ensureAll(t *testing.T, admin client.Client, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		ensure(t, admin, object)
		t.Cleanup(func() { unregister(t, admin, object) })
	}
}
