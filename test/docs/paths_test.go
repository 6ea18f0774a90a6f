// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// aboutTheTree are the pages whose paths are paths of the repository.
var aboutTheTree = []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "docs/recipes.md"}

// roots are the folders whose packages ARCHITECTURE.md describes one by one.
var roots = []string{"cell", "cli", "hub", "internal", "milo", "webhook"}

// generatedOnly are folders of markers, from which RBAC is generated. hub/access and cell/access describe them.
var generatedOnly = []string{"cell/access/", "hub/access/"}

// code matches a path that a page sets in code.
var code = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+)`")

// TestPathsExist: the paths in pages about the tree exist. Names with a slash that are no path begin with no folder of
// the repository.
func TestPathsExist(t *testing.T) {
	for _, page := range aboutTheTree {
		for _, path := range paths(t, page) {
			first, _, _ := strings.Cut(path, "/")
			if _, err := os.Stat(filepath.Join(repository, first)); err != nil || first == "bin" {
				continue
			}
			if _, err := os.Stat(filepath.Join(repository, path)); err != nil {
				t.Errorf("%s names %s, which is not in the repository", page, path)
			}
		}
	}
}

// TestArchitectureNamesEveryPackage: a new package gets its sentence.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	named := paths(t, "ARCHITECTURE.md")
	for _, root := range roots {
		err := filepath.WalkDir(filepath.Join(repository, root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			sources, err := filepath.Glob(filepath.Join(path, "*.go"))
			folder := strings.TrimPrefix(filepath.ToSlash(path), repository+"/")
			described := slices.Contains(named, folder) || folder == root ||
				slices.ContainsFunc(generatedOnly, func(prefix string) bool { return strings.HasPrefix(folder, prefix) })
			if len(sources) > 0 && !described {
				t.Errorf("ARCHITECTURE.md does not name package %s", folder)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// paths returns the words with a slash that a page sets in code.
func paths(t *testing.T, page string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, page))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range code.FindAllStringSubmatch(string(content), -1) {
		found = append(found, match[1])
	}
	if len(found) == 0 {
		t.Fatalf("%s names no path", page)
	}
	return found
}
