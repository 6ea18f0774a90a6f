// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// ofSessions are the subresources of instances that only permissions have: the API serves none of them.
func ofSessions(t *testing.T) []string {
	t.Helper()
	names := []string{"portforward"}
	for _, session := range []v1alpha.InstanceSessionType{v1alpha.SessionLogs, v1alpha.SessionExec, v1alpha.SessionAttach} {
		verb, subresource, known := session.Permission()
		if !known || verb == "" {
			t.Fatalf("session %s has no permission", session)
		}
		names = append(names, subresource)
	}
	return names
}

// texts are the entries of a field that is a list of texts, or of objects by their names.
func texts(t *testing.T, object map[string]any, fields ...string) []string {
	t.Helper()
	list, _, err := unstructured.NestedSlice(object, fields...)
	if err != nil {
		t.Fatal(err)
	}
	var result []string
	for _, entry := range list {
		if named, isObject := entry.(map[string]any); isObject {
			entry = named["name"]
		}
		text, isText := entry.(string)
		if !isText {
			t.Fatalf("%v has %v", fields, entry)
		}
		result = append(result, text)
	}
	return result
}

// kindOfCRD are the names and subresources of a CRD.
type kindOfCRD struct {
	kind, singular string
	subresources   []string
}

func kindsOf(t *testing.T, objects []*unstructured.Unstructured) map[string]kindOfCRD {
	t.Helper()
	result := map[string]kindOfCRD{}
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		names, _, err := unstructured.NestedStringMap(dropLists(object, "spec", "names"), "names")
		if err != nil {
			t.Fatal(err)
		}
		versions, _, err := unstructured.NestedSlice(object.Object, "spec", "versions")
		if err != nil || len(versions) == 0 {
			t.Fatalf("%s has versions %v, %v", id(object), versions, err)
		}
		version, _ := versions[0].(map[string]any)
		subresources, _, err := unstructured.NestedMap(version, "subresources")
		if err != nil {
			t.Fatal(err)
		}
		result[names["plural"]] = kindOfCRD{names["kind"], names["singular"], slices.Sorted(maps.Keys(subresources))}
	}
	return result
}

// dropLists is the map at these fields without its lists, as the only member.
func dropLists(object *unstructured.Unstructured, fields ...string) map[string]any {
	found, _, _ := unstructured.NestedMap(object.Object, fields...)
	maps.DeleteFunc(found, func(_ string, value any) bool { _, isText := value.(string); return !isText })
	return map[string]any{fields[len(fields)-1]: found}
}

// TestProtectedResources: every kind that projects have is protected, with its subresources, and no other kind.
func TestProtectedResources(t *testing.T) {
	objects := render(t, parts["milo"], set{"milo.iam.enabled": true})
	kinds := kindsOf(t, objects)
	if len(kinds) == 0 {
		t.Fatal("there are no kinds")
	}
	protected := map[string]bool{}
	for _, object := range objects {
		if object.GetKind() != "ProtectedResource" {
			continue
		}
		plural := query(t, objects, id(object), "{.spec.plural}")
		kind, exists := kinds[plural]
		if !exists {
			t.Errorf("%s protects %s, which projects do not have", id(object), plural)
			continue
		}
		protected[plural] = true
		want := kind.subresources
		if plural == "instances" {
			want = append(want, ofSessions(t)...)
		}
		slices.Sort(want)
		got := texts(t, object.Object, "spec", "subresources")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has subresources %v, want %v", id(object), got, want)
		}
		names := query(t, objects, id(object), "{.spec.kind} {.spec.singular} {.spec.serviceRef.name} {.spec.parentResources[*].kind}")
		if names != kind.kind+" "+kind.singular+" compute.datumapis.com Project" {
			t.Errorf("%s is of %s", id(object), names)
		}
	}
	for plural := range kinds {
		if !protected[plural] {
			t.Errorf("%s are not protected: add a ProtectedResource to files/milo/iam.yaml, and their permissions to its Roles", plural)
		}
	}
}

// permissionsOf are the permissions that the protected resources declare.
func permissionsOf(t *testing.T, objects []*unstructured.Unstructured) map[string]bool {
	t.Helper()
	result := map[string]bool{}
	for _, object := range objects {
		if object.GetKind() != "ProtectedResource" {
			continue
		}
		prefix := "compute.datumapis.com/" + query(t, objects, id(object), "{.spec.plural}")
		for _, verb := range texts(t, object.Object, "spec", "permissions") {
			result[prefix+"."+verb] = true
		}
		subresources, _, err := unstructured.NestedSlice(object.Object, "spec", "subresources")
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range subresources {
			of, _ := entry.(map[string]any)
			name, _ := of["name"].(string)
			for _, verb := range texts(t, of, "permissions") {
				result[prefix+"/"+name+"."+verb] = true
			}
		}
	}
	return result
}

// forConsumers reports whether a permission reads, or writes an object that consumers write.
func forConsumers(permission string) bool {
	resource, verb, _ := strings.Cut(strings.TrimPrefix(permission, "compute.datumapis.com/"), ".")
	return slices.Contains([]string{"get", "list", "watch"}, verb) ||
		slices.Contains([]string{"workloads", "workloads/scale", "instancesessions"}, resource) || strings.HasPrefix(resource, "instances/")
}

// checkInherited checks that the roles which others inherit exist.
func checkInherited(t *testing.T, objects []*unstructured.Unstructured, roles map[string][]string) {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != "Role" {
			continue
		}
		for _, inherited := range texts(t, object.Object, "spec", "inheritedRoles") {
			if roles[inherited] == nil {
				t.Errorf("%s inherits %s, which does not exist", id(object), inherited)
			}
		}
	}
}

// TestConsumerRoles: roles grant protected permissions, viewers read every kind, and no role may write the objects that
// only the add-on writes.
func TestConsumerRoles(t *testing.T) {
	objects := render(t, parts["milo"], set{"milo.iam.enabled": true, "milo.iam.namespace": "mine"})
	permissions, roles := permissionsOf(t, objects), map[string][]string{}
	for _, object := range objects {
		if !strings.HasPrefix(object.GetAPIVersion(), "iam.miloapis.com/") || object.GetKind() != "Role" {
			continue
		}
		if object.GetNamespace() != "mine" {
			t.Errorf("%s is in namespace %q", id(object), object.GetNamespace())
		}
		roles[object.GetName()] = texts(t, object.Object, "spec", "includedPermissions")
		for _, permission := range roles[object.GetName()] {
			if !permissions[permission] {
				t.Errorf("%s has %s, which no ProtectedResource declares", id(object), permission)
			}
			if !forConsumers(permission) {
				t.Errorf("%s has %s: only the add-on writes it", id(object), permission)
			}
		}
	}
	checkInherited(t, objects, roles)
	for plural := range kindsOf(t, objects) {
		for _, verb := range []string{"get", "list", "watch"} {
			if want := "compute.datumapis.com/" + plural + "." + verb; !slices.Contains(roles["compute.datumapis.com-viewer"], want) {
				t.Errorf("viewers lack %s", want)
			}
		}
	}
}

// TestNoObjectsOfMiloByDefault: their kinds may not be served.
func TestNoObjectsOfMiloByDefault(t *testing.T) {
	if off := render(t, parts["milo"]); slices.ContainsFunc(off,
		func(o *unstructured.Unstructured) bool { return strings.Contains(o.GetAPIVersion(), "miloapis.com") }) {
		t.Error("the chart has objects of Milo by default")
	}
}
