// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestRenameCRD(t *testing.T) {
	source, err := os.ReadFile("../../api/crds/compute.datumapis.com_workloads.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := renameCRD(source, "bench.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if got.GetName() != "workloads.bench.example.com" {
		t.Errorf("its name is %s", got.GetName())
	}
	if group, _, err := unstructured.NestedString(got.Object, "spec", "group"); err != nil || group != "bench.example.com" {
		t.Errorf("its group is %s, %v", group, err)
	}
	// Nothing else may differ, since it is the floor.
	got.SetName("workloads.compute.datumapis.com")
	if err := unstructured.SetNestedField(got.Object, "compute.datumapis.com", "spec", "group"); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := yaml.Unmarshal(source, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Object, want) {
		t.Error("more was changed than name and group")
	}
}

// TestFloorCRD: the programs run in any folder of the checkout, as `make bench` runs them in test/.
func TestFloorCRD(t *testing.T) {
	for _, plural := range []string{"workloads", "instances"} {
		if crd, err := floorCRD(plural); err != nil || crd.GetName() != plural+"."+floorGroup {
			t.Errorf("the floor of %s: %v, %v", plural, crd, err)
		}
	}
}

func TestRenameWhatIsNoCRD(t *testing.T) {
	for name, source := range map[string]string{
		"no YAML":      "{",
		"nothing":      "",
		"another kind": "kind: ConfigMap\nspec: {names: {plural: things}}",
		"no plural":    "kind: CustomResourceDefinition\nspec: {names: {kind: Thing}}",
	} {
		if _, err := renameCRD([]byte(source), "bench.example.com"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
