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

// elsewhere are paths in pages that are no paths of this repository although they begin with the name of one of its folders: of
// Karmada's repository, and a tag of a module.
var elsewhere = []string{"hack/local-up-karmada.sh", "api/vX.Y.Z"}

// roots are the folders whose packages ARCHITECTURE.md describes one by one.
var roots = []string{"cell", "cli", "hub", "internal", "milo", "webhook"}

// generatedOnly are folders of markers, from which RBAC is generated. hub/access and cell/access describe them.
var generatedOnly = []string{"cell/access/", "hub/access/"}

// code matches a path that a page sets in code.
var code = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+)`")

// test matches the declaration of a test.
var test = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// TestPathsExist: the paths that pages name exist, and the names in packages. Names with a slash that are no path begin with no folder
// of the repository.
func TestPathsExist(t *testing.T) {
	for _, page := range documents(t) {
		for _, path := range paths(t, page) {
			first, _, _ := strings.Cut(path, "/")
			if _, err := os.Stat(filepath.Join(repository, first)); err != nil || first == "bin" || slices.Contains(elsewhere, path) {
				continue
			}
			if _, err := os.Stat(filepath.Join(repository, path)); err != nil && !isDeclared(t, path) {
				t.Errorf("%s names %s, which is not in the repository", page, path)
			}
		}
	}
}

// TestArchitectureNamesEveryPackage: a new package gets its sentence.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	named := paths(t, filepath.Join(repository, "ARCHITECTURE.md"))
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

// example is something that exists, and that a recipe has made: the files of these folders that name it are files of the
// recipe.
type example struct {
	recipe string
	// names are words, each of which a file must have.
	names []string
	// folders are searched. beside are files that name the example for another reason.
	folders, beside []string
}

var examples = []example{
	{
		recipe: "A field of the template that must reach the Pod", names: []string{"WorkingDir", "SubPath", "RunAsNonRoot"},
		folders: []string{"api/v1alpha", "cell", "cli", "internal", "webhook"},
	},
	{
		recipe: "A field of the template that must reach the Pod", names: []string{"EnvFrom", "ImagePullSecrets"},
		folders: []string{"internal"},
	},
	{
		recipe: "A reason of a condition", names: []string{"ReasonConfigurationError", "ReasonScaledToZero"},
		folders: []string{"api/v1alpha", "internal"},
	},
	{
		recipe: "A flag", names: []string{"project-idle-after", "instance-type-deprecation-grace"},
		folders: []string{"cmd", "hub", "webhook"},
	},
	{
		recipe: "A value of the chart", names: []string{"kubeAPIQPS"}, folders: []string{"charts"},
	},
	{
		recipe: "A controller", names: []string{"isolation.Reconciler"}, folders: []string{"cell", "cmd"},
		beside: []string{"cell/runtime/reconcile.go"},
	},
	{
		recipe: "A metric", names: []string{"karmada_compute_cell_agent_ready"}, folders: []string{"charts", "hack"},
		// The cells to choose from.
		beside: []string{"hack/dashboards/grafana.go"},
	},
}

// TestRecipesAreComplete follows examples through the tree.
func TestRecipesAreComplete(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(repository, "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range examples {
		_, section, found := strings.Cut(string(content), "\n## "+one.recipe+"\n")
		if !found {
			t.Errorf("there is no recipe %q", one.recipe)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		var files []string
		for _, name := range one.names {
			found := one.files(t, name)
			if len(found) == 0 {
				t.Errorf("no file names %s, an example of %q: choose another one", name, one.recipe)
			}
			files = append(files, found...)
		}
		for _, file := range files {
			named := slices.ContainsFunc(code.FindAllStringSubmatch(section, -1), func(match []string) bool {
				return file == match[1] || strings.HasPrefix(file, match[1]+"/")
			})
			if !named && !slices.Contains(one.beside, file) {
				t.Errorf("recipe %q does not have %s, which names its example", one.recipe, file)
			}
		}
	}
}

// files returns the files that have a word. Tests and generated files follow the others.
func (e *example) files(t *testing.T, word string) []string {
	t.Helper()
	named := regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`)
	var found []string
	for _, folder := range e.folders {
		err := filepath.WalkDir(filepath.Join(repository, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			file := strings.TrimPrefix(filepath.ToSlash(path), repository+"/")
			if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "zz_generated") || strings.Contains(file, "/testdata/") ||
				strings.Contains(file, "/files/dashboards/") || strings.Contains(file, "/examples/") {
				return nil
			}
			content, err := os.ReadFile(path)
			if named.Match(content) {
				found = append(found, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// paths returns the words with a slash that a page sets in code.
func paths(t *testing.T, page string) []string {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range code.FindAllStringSubmatch(string(content), -1) {
		found = append(found, match[1])
	}
	return found
}

// TestLaterTestsExist: hack/later.txt names each test once, and no test that is not there. A name with a mistake would select nothing.
func TestLaterTestsExist(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(repository, "hack/later.txt"))
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, name := range declaredTests(t) {
		declared[name] = true
	}
	seen := map[string]bool{}
	for name := range strings.Lines(string(content)) {
		name = strings.TrimSuffix(name, "\n")
		switch {
		case name == "" || strings.HasPrefix(name, "#"):
		case seen[name]:
			t.Errorf("hack/later.txt names %s twice", name)
		case !declared[name] || strings.HasPrefix(name, "TestLong"):
			t.Errorf("hack/later.txt names %q, which is not a test, or one of make long", name)
		}
		seen[name] = name != ""
	}
}

// declaredTests are the names of the tests of the repository.
func declaredTests(t *testing.T) []string {
	var names []string
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, match := range test.FindAllSubmatch(content, -1) {
			names = append(names, string(match[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
