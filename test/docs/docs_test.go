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

	"github.com/karmada-compute/karmada-compute/test/pages"
)

// repository is its root, as seen from here.
const repository = "../.."

// documents are all files in Markdown.
func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{".git", "bin", "testdata"}, entry.Name()) {
			return filepath.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".md" {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d documents, %v", len(found), err)
	}
	return found
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, path := range documents(t) {
		broken, err := pages.BrokenLinks(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range broken {
			t.Errorf("%s: %s leads to no file or heading", path, link)
		}
	}
}

// TestAlertsNameSections follows the links of the chart's alerts.
func TestAlertsNameSections(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(repository, "charts/karmada-compute/files/rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`runbook_url: \S+/blob/main/([^#\s]+)#?(\S*)`).FindAllStringSubmatch(string(rules), -1)
	if len(links) == 0 {
		t.Fatal("no alert names a runbook")
	}
	for _, link := range links {
		document, err := pages.ReadDocument(filepath.Join(repository, link[1]))
		if err != nil {
			t.Error(err)
		} else if link[2] != "" && !document.Anchors[link[2]] {
			t.Errorf("%s has no section #%s, which an alert names", link[1], link[2])
		}
	}
}

// otherWords are not used in prose, and which are.
var otherWords = map[*regexp.Regexp]string{
	regexp.MustCompile(`(?i)\b(up|down)stream\b`):                             "project, hub, cell or host",
	regexp.MustCompile(`(?i)\butili[sz]e[sd]?\b`):                             "use",
	regexp.MustCompile(`(?i)\bleverages?\b`):                                  "use",
	regexp.MustCompile(`(?i)\b(simply|seamless(ly)?|robust|blazing(ly)?)\b`):  "nothing",
	regexp.MustCompile(`(?i)\b(member|edge) (site|cloud)s?\b`):                "cell",
	regexp.MustCompile(`(?i)\btenants?\b`):                                    "consumer, or project",
	regexp.MustCompile(`(?i)\b(white|black)list(s|ed)?\b`):                    "allow, deny",
	regexp.MustCompile(`(?i)\bpropagation controller\b|\bfederation agent\b`): "the name of the package, or agent",
	regexp.MustCompile(`(?i)\b(k8s|kube) cluster\b|\bmanagement plane\b`):     "cell, hub or host",
}

// mayName is where such words are named to be avoided.
var mayName = []string{"CONTRIBUTING.md", "glossary.md"}

func TestWordsAreThoseOfTheGlossary(t *testing.T) {
	for _, path := range documents(t) {
		document, err := pages.ReadDocument(path)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(mayName, filepath.Base(path)) {
			continue
		}
		for _, text := range document.Prose {
			for other, word := range otherWords {
				if found := other.FindString(text); found != "" {
					t.Errorf("%s: %q: write %s instead, in: %s", path, found, word, text)
				}
			}
		}
	}
}

// TestFirstScreen: a scenario runs the commands with which the README installs the add-on, all of them.
func TestFirstScreen(t *testing.T) {
	readme, err := pages.Read(filepath.Join(repository, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, block := range readme.Blocks {
		if block.Heading != "Your Karmada" {
			continue
		}
		if run++; block.NotRun != "" {
			t.Errorf("README.md:%d: the commands are not run: %s", block.Line, block.NotRun)
		}
	}
	scenarios, err := os.ReadFile(filepath.Join(repository, "features/documentation.feature"))
	if want := `the commands of page "README.md" print the output that the page shows, with a kubeconfig of`; err != nil || run == 0 ||
		!strings.Contains(string(scenarios), want) {
		t.Errorf("no scenario runs the %d blocks of the README: %v", run, err)
	}
}

// TestCommandsAreRun verifies that a scenario runs every page with commands, and whether each reason against it is
// true.
func TestCommandsAreRun(t *testing.T) {
	scenarios, err := os.ReadFile(filepath.Join(repository, "features/documentation.feature"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"tutorial", "how-to", "runbooks"} {
		files, err := filepath.Glob(filepath.Join(repository, "docs", folder, "*.md"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d pages, %v", folder, len(files), err)
		}
		for _, path := range files {
			page, err := pages.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			run := strings.Contains(string(scenarios), quoted(path))
			for _, block := range page.Blocks {
				checkBlock(t, path, block, run)
			}
		}
	}
}

// quoted returns the name of a page in a scenario.
func quoted(path string) string {
	return `"` + strings.TrimPrefix(filepath.ToSlash(path), repository+"/") + `"`
}

// header is the first line of a list, and cellHeader of one with a line for each cell.
var (
	header     = regexp.MustCompile(`^[A-Z]+ +[A-Z]`)
	cellHeader = regexp.MustCompile(`^(CELL|NAME +VERSION +MODE) `)
)

// checkCells: the federation of the scenarios has other cells, and their lines are between the lines of a page.
func checkCells(t *testing.T, path string, block pages.Block) {
	t.Helper()
	inList, before := false, "..."
	for line := range strings.Lines(*block.Prints) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || header.MatchString(line):
			inList, line = cellHeader.MatchString(line), "..."
		case inList && line != "..." && before != "...":
			t.Errorf("%s:%d: between %q and %q the output may have lines of other cells: add a line with ...", path, block.Line, before, line)
		}
		before = line
	}
}

func checkBlock(t *testing.T, path string, block pages.Block, run bool) {
	t.Helper()
	if run && block.NotRun == "" && block.Prints != nil {
		checkCells(t, path, block)
	}
	switch feature, isFeature := strings.CutPrefix(block.NotRun, "features/install.feature runs it"); {
	case block.NotRun == "" && !run:
		t.Errorf("%s:%d: features/documentation.feature does not run the page, and no comment says why these commands are not run", path,
			block.Line)
	case isFeature && feature == "":
		content, err := os.ReadFile(filepath.Join(repository, "features/install.feature"))
		if err != nil || !strings.Contains(string(content), quoted(path)+` under "`+block.Heading+`"`) {
			t.Errorf("%s:%d: features/install.feature does not run %q: %v", path, block.Line, block.Heading, err)
		}
	}
}
