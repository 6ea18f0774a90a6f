// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/charts"
)

// TestObjects: every embedded file is YAML of objects with a kind and a name once its values are set, and no value is left out.
func TestObjects(t *testing.T) {
	entries, err := objectFiles.ReadDir("objects")
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{
		"cluster": "lhr", "name": "name", "ca": "Y2E=", "port": "443", "user": "consumer", "namespace": "default", "city": "DFW", "now": "2026-01-01T00:00:00Z",
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

// TestValues: the chart renders with the values of the add-on in a federation.
func TestValues(t *testing.T) {
	for name, options := range map[string]AddOnOptions{
		"default": {Replicas: 2}, "all": {Replicas: 1, Args: []string{"--a=b,c", `--d={"e":"f"}`}, WithoutAgents: true, Sessions: true}, "earlier": {Replicas: 1, Earlier: true},
	} {
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
			t.Fatalf("%s: %v\n%s", name, err, content)
		}
		if options.Earlier && (set["hub"] != nil || set["sessions"] != nil) {
			t.Errorf("%s: an earlier chart may not know these values:\n%s", name, content)
		}
		if _, err := charts.Render(set, charts.Release{Name: "karmada-compute", Namespace: karmadaSystem}); err != nil {
			t.Errorf("%s: %v\n%s", name, err, content)
		}
	}
}
