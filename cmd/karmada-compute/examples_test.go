// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestExamples: the API server and admission accept each of the manifests in examples as it is, from a consumer.
func TestExamples(t *testing.T) {
	if inOwnProcess(t) {
		return
	}
	h := startWithoutMilo(t)
	for _, city := range []string{"DFW", "ORD"} {
		h.planes.Cell(t, city)
	}
	project := h.namespace("examples", "true")
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) != 9 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		workloads := 0
		for _, object := range objectsIn(t, file) {
			object.SetNamespace(project.Name)
			// The replica confirms the cities of new cells after a while.
			eventually(t, func() error {
				err := h.as("alice").Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
				if err != nil {
					return errors.Join(errors.New(file), err)
				}
				return nil
			})
			if object.GetKind() != "Workload" {
				continue
			}
			workloads++
			inDefaultNetwork(t, file, object)
		}
		if workloads != 1 {
			t.Errorf("%s has %d Workloads", file, workloads)
		}
	}
	for _, object := range objectsIn(t, "../../examples/hello.yaml") {
		object.SetNamespace(project.Name)
		if err := unstructured.SetNestedSlice(object.Object, []any{}, "spec", "template", "spec", "networkInterfaces"); err != nil {
			t.Fatal(err)
		}
		if err := h.as("alice").Create(t.Context(), object, client.DryRunAll); !apierrors.IsInvalid(err) {
			t.Errorf("an Instance without a network interface: %v", err)
		}
	}
}

// inDefaultNetwork verifies that a Workload has one interface, in network default.
func inDefaultNetwork(t *testing.T, file string, workload *unstructured.Unstructured) {
	t.Helper()
	interfaces, _, err := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "networkInterfaces")
	if err != nil || len(interfaces) != 1 {
		t.Fatalf("%s has network interfaces %v, %v", file, interfaces, err)
	}
	if name, _, err := unstructured.NestedString(interfaces[0].(map[string]any), "network", "name"); err != nil || name != "default" {
		t.Errorf("%s is in network %q, %v", file, name, err)
	}
}

// objectsIn returns the objects of a manifest.
func objectsIn(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content))
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, object)
	}
}
