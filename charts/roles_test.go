// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/karmada-compute/karmada-compute/charts"
)

// documents are the objects of a file of the repository.
func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content))
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, object)
	}
}

// TestGeneratedObjects: the chart has the roles and CRDs that are generated from the packages, each role is bound, and
// there is no other role.
func TestGeneratedObjects(t *testing.T) {
	sources := map[string][]string{
		"hub": {
			"../hub/access/hub/role.yaml", "../hub/access/namespace/role.yaml", "../hub/access/webhooks/hub/role.yaml", "../cell/access/role.yaml",
			"../api/crds/compute.datumapis.com_workloaddeployments.yaml", "../api/crds/compute.datumapis.com_instances.yaml",
			"../api/crds/compute.datumapis.com_cells.yaml",
			"../api/crds/compute.datumapis.com_instanceslices.yaml",
			"../api/crds/compute.datumapis.com_instancetypes.yaml",
		},
		"milo": {
			"../hub/access/project/role.yaml", "../hub/access/webhooks/project/role.yaml", "../api/crds/compute.datumapis.com_workloads.yaml",
			"../api/crds/compute.datumapis.com_workloaddeployments.yaml", "../api/crds/compute.datumapis.com_instances.yaml",
			"../api/crds/compute.datumapis.com_instancetypes.yaml", "../api/crds/compute.datumapis.com_instancesessions.yaml",
			"../api/crds/compute.datumapis.com_workloadrevisions.yaml",
		},
	}
	for part, enabled := range parts {
		objects := render(t, enabled, set{"host.separateWebhooks": true})
		generated := map[string]bool{}
		for _, file := range sources[part] {
			for _, want := range documents(t, file) {
				generated[id(want)] = true
				addRelease(t, want)
				got := find(objects, id(want))
				if got == nil {
					t.Fatalf("%s has no %s of %s", part, id(want), file)
				}
				for _, field := range []string{"apiVersion", "rules", "spec"} {
					if diff := cmp.Diff(want.Object[field], got.Object[field]); diff != "" {
						t.Errorf("%s: %s is not that of %s: %s", id(want), field, file, diff)
					}
				}
				if want.GetNamespace() != got.GetNamespace() {
					t.Errorf("%s is in %q, generated for %q", id(want), got.GetNamespace(), want.GetNamespace())
				}
				if want.GetKind() == "CustomResourceDefinition" {
					if keep := got.GetAnnotations()["helm.sh/resource-policy"]; keep != "keep" {
						t.Errorf("%s would be deleted with the release", id(want))
					}
				} else {
					checkBound(t, objects, want)
				}
			}
		}
		for _, object := range objects {
			switch object.GetKind() {
			case "ClusterRole", "Role", "CustomResourceDefinition":
				if !generated[id(object)] {
					t.Errorf("%s has %s, which is not generated", part, id(object))
				}
			}
		}
	}
}

// addRelease adds the release to the descriptions of the kinds that `kubectl compute version` reads.
func addRelease(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	if crd.GetName() != "workloads.compute.datumapis.com" && crd.GetName() != "workloaddeployments.compute.datumapis.com" {
		return
	}
	chart, err := charts.Load()
	if err != nil {
		t.Fatal(err)
	}
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil || len(versions) == 0 {
		t.Fatalf("%s has %d versions: %v", id(crd), len(versions), err)
	}
	for _, version := range versions {
		schema := version.(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		schema["description"] = schema["description"].(string) + "\n\nInstalled by karmada-compute " + chart.Metadata.AppVersion + "."
	}
	if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
}

// checkBound checks that a role is bound, except the role that the add-on binds in each hub namespace.
func checkBound(t *testing.T, objects []*unstructured.Unstructured, role *unstructured.Unstructured) {
	t.Helper()
	want := id(role)
	if want == "ClusterRole/karmada-compute-namespace" {
		want = none
	}
	if bound := query(t, objects, role.GetKind()+"Binding/"+role.GetName(), "{.roleRef.kind}/{.roleRef.name}"); bound != want {
		t.Errorf("%s is bound by %s", id(role), bound)
	}
}

// TestAgentsHaveNoRightsOnTheHub: a resource template is effective on the hub too.
func TestAgentsHaveNoRightsOnTheHub(t *testing.T) {
	objects, err := charts.Render(map[string]any{
		"host": map[string]any{"enabled": false}, "hub": map[string]any{"enabled": true},
	}, charts.Release{})
	if err != nil {
		t.Fatal(err)
	}
	bindings := 0
	for _, object := range objects {
		if object.GetName() != "karmada-compute-cell" || !strings.HasSuffix(object.GetKind(), "RoleBinding") {
			continue
		}
		bindings++
		if subjects, _, err := unstructured.NestedSlice(object.Object, "subjects"); err != nil || len(subjects) > 0 {
			t.Errorf("%s %s has subjects %v, %v", object.GetKind(), object.GetName(), subjects, err)
		}
	}
	if bindings != 2 {
		t.Errorf("there are %d bindings of the agents", bindings)
	}
}
