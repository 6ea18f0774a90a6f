// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestWorkflowsCallTheScripts: a workflow runs what a developer can run: the script of the repository and nothing of its
// own beside it.
func TestWorkflowsCallTheScripts(t *testing.T) {
	for name, script := range map[string]string{"ci.yaml": ".ci/run", "release.yaml": ".ci/release"} {
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct{ Steps []struct{ Run string } }
		}
		parse(t, filepath.Join(".github/workflows", name), &workflow)
		calls := 0
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if strings.Contains(step.Run, script) {
					calls++
				}
			}
		}
		if info, err := os.Stat(filepath.Join(repository, script)); err != nil || info.Mode()&0o100 == 0 || calls != 1 {
			t.Errorf("%s calls %s %d times: %v", name, script, calls, err)
		}
		if workflow.Permissions["contents"] == "" {
			t.Errorf("%s has all permissions of the repository", name)
		}
	}
}

// TestIssueFormsAreComplete: a form has what GitHub requires, and names only pages that exist.
func TestIssueFormsAreComplete(t *testing.T) {
	for _, name := range []string{"bug.yml", "feature.yml"} {
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes struct{ Label, Description string }
			}
		}
		parse(t, filepath.Join(".github/ISSUE_TEMPLATE", name), &form)
		if form.Name == "" || form.Description == "" || len(form.Body) < 3 {
			t.Errorf("%s is incomplete: %+v", name, form)
		}
		seen := map[string]bool{}
		for _, item := range form.Body {
			if item.Type == "" || item.ID == "" || item.Attributes.Label == "" || seen[item.ID] {
				t.Errorf("%s has the incomplete or repeated item %+v", name, item)
			}
			seen[item.ID] = true
			for _, page := range regexp.MustCompile(`[\w/-]+\.md`).FindAllString(item.Attributes.Description, -1) {
				if _, err := os.Stat(filepath.Join(repository, page)); err != nil {
					t.Errorf("%s names a page: %v", name, err)
				}
			}
		}
	}
}

func parse(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
