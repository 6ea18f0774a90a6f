// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Kinds of the API's original, and API groups of Milo, that docs/decisions/milo.md refuses.
var (
	refusedKinds  = []string{"RuntimeClass", "InstanceConsoleSession"}
	refusedGroups = []string{"services.miloapis.com", "locations.miloapis.com"}
)

// groupsOf are the API groups that a role names.
func groupsOf(t *testing.T, role *unstructured.Unstructured) []string {
	t.Helper()
	rules, _, err := unstructured.NestedSlice(role.Object, "rules")
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, rule := range rules {
		of, _ := rule.(map[string]any)
		named, _, err := unstructured.NestedStringSlice(of, "apiGroups")
		if err != nil {
			t.Fatalf("%s: %v", id(role), err)
		}
		groups = append(groups, named...)
	}
	return groups
}

// TestWhatIsRefused: no role may read the kinds of Milo that are refused, and no CRD has a refused kind or field.
func TestWhatIsRefused(t *testing.T) {
	roles, kinds := 0, 0
	for part, enabled := range parts {
		for _, object := range render(t, enabled, set{"host.separateWebhooks": true}) {
			switch object.GetKind() {
			case "Role", "ClusterRole":
				roles++
				for _, group := range groupsOf(t, object) {
					if group == "*" || slices.Contains(refusedGroups, group) {
						t.Errorf("%s has %s of group %s", part, id(object), group)
					}
				}
			case "CustomResourceDefinition":
				kinds++
				if kind := query(t, []*unstructured.Unstructured{object}, id(object), "{.spec.names.kind}"); slices.Contains(refusedKinds, kind) {
					t.Errorf("%s has kind %s", part, kind)
				}
				if object.GetName() == "instancetypes.compute.datumapis.com" {
					lacksRefusedFields(t, object)
				}
			}
		}
	}
	if roles < 5 || kinds < 10 {
		t.Errorf("there are %d roles and %d kinds", roles, kinds)
	}
}

// lacksRefusedFields checks the schema of InstanceTypes: the API server refuses or drops fields that it does not have.
func lacksRefusedFields(t *testing.T, definition *unstructured.Unstructured) {
	t.Helper()
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if err != nil || len(versions) == 0 {
		t.Fatalf("versions %v, %v", versions, err)
	}
	version, _ := versions[0].(map[string]any)
	for _, field := range [][]string{{"spec", "default"}, {"status", "conditions"}} {
		path := []string{"schema", "openAPIV3Schema", "properties", field[0], "properties"}
		fields, found, err := unstructured.NestedMap(version, path...)
		if err != nil || !found {
			t.Fatalf("%s: %v", field[0], err)
		}
		if _, exists := fields[field[1]]; exists {
			t.Errorf("InstanceTypes have %v", field)
		}
	}
}
