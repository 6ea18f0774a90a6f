// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/charts"
)

// references matches the reference of an image or of the chart, with its tag.
var references = regexp.MustCompile(`(?:[a-z0-9.-]+(?::\d+)?/)*karmada-compute(?:-cell)?:v?\d[\w.]*`)

// elsewhere begins references to what a reader has built and pushed.
const elsewhere = "registry.example.com/"

// TestOneNameOfEachImage: pages, comments of examples and Makefiles name the images and the chart as the chart and a
// release do.
func TestOneNameOfEachImage(t *testing.T) {
	loaded, err := charts.Load()
	if err != nil {
		t.Fatal(err)
	}
	version := loaded.Metadata.Version
	if loaded.Metadata.AppVersion != "v"+version {
		t.Errorf("the chart has version %s and appVersion %s: images have the tag v%s", version, loaded.Metadata.AppVersion, version)
	}
	known := map[string]bool{"ghcr.io/karmada-compute/charts/karmada-compute:" + version: true}
	for part, object := range map[string]string{"host": host, "hub": agent} {
		known[query(t, render(t, parts[part]), object, "{.spec.template.spec.containers[0].image}")] = true
	}
	if len(known) != 3 {
		t.Fatalf("names %v", known)
	}
	found := 0
	for _, file := range pages(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range references.FindAllString(string(content), -1) {
			found++
			if !known[name] && !strings.HasPrefix(name, elsewhere) {
				t.Errorf("%s names %s, want one of %v", file, name, known)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d names are found", found)
	}
}

// pages are the files that name images for readers.
func pages(t *testing.T) []string {
	t.Helper()
	files := []string{"../README.md", "../Makefile", "../.ci/release", "../hack/tools/images/release_command.go"}
	for _, folder := range []string{"../docs/how-to", "../docs/tutorial", "../docs/runbooks", "karmada-compute"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !strings.Contains(path, "/files/") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// mostApplied is the largest annotation last-applied-configuration with some reserve: an API server refuses objects
// whose annotations exceed 262144 bytes together.
const mostApplied = 262144 * 95 / 100

// TestCRDsFitClientSideApply: Argo CD without ServerSideApply, and kubectl apply, store an object in its annotation.
func TestCRDsFitClientSideApply(t *testing.T) {
	files, err := fs.Glob(charts.FS, "karmada-compute/files/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		content, err := charts.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := yaml.YAMLToJSON(content)
		if err != nil {
			t.Fatal(err)
		}
		if len(encoded) > mostApplied {
			t.Errorf("%s has %d bytes: at most %d fit into the annotation of kubectl apply; shorten descriptions or bound nested fields", file,
				len(encoded), mostApplied)
		}
	}
}
