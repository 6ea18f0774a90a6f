// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/charts"
)

// TestObjects: every embedded file is YAML of objects with a kind and a name once its values are set, and no value is
// left out.
func TestObjects(t *testing.T) {
	entries, err := objectFiles.ReadDir("objects")
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{
		"cluster": "lhr", "name": "name", "ca": "Y2E=", "port": "443", "milliseconds": "5000", "user": "consumer",
		"namespace": "default", "city": "DFW", "now": "2026-01-01T00:00:00Z", "statusVerb": "update",
	}
	for _, entry := range entries {
		if entry.Name() == "values.yaml" {
			continue
		}
		objects, err := objectsOf(entry.Name(), set)
		if err != nil || len(objects) == 0 {
			t.Errorf("%s has %d objects: %v", entry.Name(), len(objects), err)
		}
		for _, object := range objects {
			if object.GetKind() == "" || object.GetName() == "" {
				t.Errorf("%s has an object without a kind or a name: %v", entry.Name(), object.Object)
			}
		}
	}
}

// TestKindsOfCells: cells have the kinds that the chart propagates to them.
func TestKindsOfCells(t *testing.T) {
	var propagated []string
	for _, object := range rendered(t, AddOnOptions{Replicas: 1}, "host", "milo") {
		if object.GetKind() != "ClusterPropagationPolicy" || object.GetName() != "karmada-compute-crds" {
			continue
		}
		selectors, _, _ := unstructured.NestedSlice(object.Object, "spec", "resourceSelectors")
		for _, selector := range selectors {
			name, _, _ := unstructured.NestedString(selector.(map[string]any), "name")
			propagated = append(propagated, strings.TrimSuffix(name, "."+ownGroup))
		}
	}
	if !slices.Equal(propagated, cellKinds) {
		t.Errorf("the chart propagates %v, want %v", propagated, cellKinds)
	}
}

// TestValues: the chart renders with the values of the add-on in a federation.
func TestValues(t *testing.T) {
	for name, options := range map[string]AddOnOptions{
		"default": {Replicas: 2}, "all": {Replicas: 1, Args: []string{"--a=b,c", `--d={"e":"f"}`}, WithoutAgents: true, Sessions: true},
	} {
		t.Run(name, func(t *testing.T) { rendered(t, options) })
	}
}

// rendered renders the chart with the values of the add-on in a federation, without some of its parts.
func rendered(t *testing.T, options AddOnOptions, without ...string) []*unstructured.Unstructured {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := &AddOn{federation: &Federation{folder: folder}, balancer: 9443, sessions: 9444, options: options}
	file, err := a.writeValues()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var set map[string]any
	if err := yaml.UnmarshalStrict(content, &set); err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	for _, part := range without {
		set[part] = map[string]any{"enabled": false}
	}
	if without != nil {
		set["hub"] = map[string]any{"enabled": true}
	}
	objects, err := charts.Render(set, charts.Release{Name: "karmada-compute", Namespace: karmadaSystem})
	if err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	return objects
}
