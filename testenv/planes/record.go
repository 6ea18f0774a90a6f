// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"
)

// recordTime is written instead of the times of the API server.
const recordTime = "2026-01-01T00:00:00Z"

// Record compares an object as the API server shows it with a recorded one. UPDATE=1 writes the record. Values
// that differ between two runs are left out, or replaced by names.
func Record(t testing.TB, p *Planes, obj client.Object, file string, names *strings.Replacer) {
	t.Helper()
	gvk, err := apiutil.GVKForObject(obj, p.Client.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	shown := &unstructured.Unstructured{}
	shown.SetGroupVersionKind(gvk)
	Get(t, p, obj.GetNamespace(), obj.GetName(), shown)
	metadata := shown.Object["metadata"].(map[string]any)
	for _, field := range []string{"managedFields", "ownerReferences", "resourceVersion", "uid"} {
		delete(metadata, field)
	}
	for _, field := range []string{"creationTimestamp", "deletionTimestamp"} {
		if metadata[field] != nil {
			metadata[field] = recordTime
		}
	}
	metadata["namespace"] = "shop"
	encoded, err := yaml.Marshal(shown.Object)
	if err != nil {
		t.Fatal(err)
	}
	got := names.Replace(string(encoded))
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // The record is in the folder of the test.
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("it is not as in %s (UPDATE=1 writes it):\n%s", file, got)
	}
}
