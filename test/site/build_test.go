// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package site

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const repository = "../.."

var (
	ids        = regexp.MustCompile(` id="([^"]*)"`)
	references = regexp.MustCompile(` (?:href|src)="([^"]*)"`)
	// named are pages and sections that texts name by their paths in the repository.
	named = regexp.MustCompile(`\bdocs/[\w/.-]+\.md(?:#[\w-]+)?`)
)

// built is the site of the repository: the contents of its files, and the anchors of its pages.
type built struct {
	files   map[string]string
	anchors map[string]map[string]bool
}

func build(t *testing.T) *built {
	t.Helper()
	folder := t.TempDir()
	if err := Build(repository, folder); err != nil {
		t.Fatal(err)
	}
	s := &built{files: map[string]string{}, anchors: map[string]map[string]bool{}}
	if err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		s.files[name], s.anchors[name] = string(content), map[string]bool{}
		for _, id := range ids.FindAllStringSubmatch(string(content), -1) {
			s.anchors[name][id[1]] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// leads reports whether a link of a page leads to a file and a section of the site.
func (s *built) leads(from, link string) bool {
	file, anchor, hasAnchor := strings.Cut(link, "#")
	target := from
	if file != "" {
		target = path.Join(path.Dir(from), file)
	}
	_, exists := s.files[target]
	return exists && (!hasAnchor || s.anchors[target][anchor])
}

// TestSite: every link in the site leads to a page and a section, every reason has an anchor, and the pages that
// remedies and messages name exist.
func TestSite(t *testing.T) {
	s := build(t)
	links := 0
	for name, content := range s.files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, reference := range references.FindAllStringSubmatch(content, -1) {
			if link := reference[1]; !isElsewhere(link) {
				links++
				if !s.leads(name, link) {
					t.Errorf("%s: %s leads nowhere", name, link)
				}
			}
		}
	}
	if links < 5000 || len(s.files) < 100 {
		t.Errorf("the site has %d files with %d links", len(s.files), links)
	}

	for _, remedy := range reasons.All() {
		for _, condition := range remedy.Conditions {
			if anchor := ReasonAnchor(condition, remedy.Reason); !s.anchors["docs/reference/reasons.html"][anchor] {
				t.Errorf("the page of reasons has no #%s", anchor)
			}
		}
		for _, page := range named.FindAllString(remedy.Do+" "+remedy.Late.Do, -1) {
			s.hasPage(t, page)
		}
	}
	s.hasPage(t, named.FindString(reasons.AboutBroadBindings([]string{"shop/edit"})))
}

// hasPage checks that a text names a page, by its path in the repository.
func (s *built) hasPage(t *testing.T, name string) {
	t.Helper()
	file, anchor, found := strings.Cut(name, "#")
	link := linkOf(file)
	if found {
		link += "#" + anchor
	}
	if !s.leads("index.html", link) {
		t.Errorf("a text names %s, which the site does not have", name)
	}
}

// TestNavigation: the pages of each part are in the order of docs/README.md, and the ones that it does not name come last.
func TestNavigation(t *testing.T) {
	page := build(t).files["docs/index.html"]
	at := 0
	for _, title := range []string{
		"A first Workload", "A first city", "Install, upgrade and remove", "Use the add-on without Milo", "Install on kind", "Runbooks",
		"The API", "Limits", "Reasons",
	} {
		found := strings.Index(page[at:], ">"+title)
		if found < 0 {
			t.Fatalf("%q is not after the pages before it", title)
		}
		at += found
	}
}

// TestSearchIndex: the index is small, its entries lead to sections, and it has reasons and flags.
func TestSearchIndex(t *testing.T) {
	s := build(t)
	var entries []Entry
	if err := json.Unmarshal([]byte(s.files["search.json"]), &entries); err != nil {
		t.Fatal(err)
	}
	if size := len(s.files["search.json"]); size > 2<<20 {
		t.Errorf("the index has %d bytes", size)
	}
	titles := map[string]bool{}
	for _, entry := range entries {
		titles[entry.Title] = true
		if !s.leads("index.html", entry.Link) || entry.Page == "" || len(entry.Text) > longestText {
			t.Errorf("%s of page %q, with %d bytes", entry.Link, entry.Page, len(entry.Text))
		}
	}
	for _, want := range []string{"QuotaExceeded", "kubectl compute explain", "See it as a page"} {
		if !titles[want] {
			t.Errorf("%s cannot be found", want)
		}
	}
}

// TestBrokenLinksFail: a link to a missing file ends the build with its name.
func TestBrokenLinksFail(t *testing.T) {
	folder := t.TempDir()
	for _, name := range folders {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "README.md"), []byte("# A\n\n[b](b.md)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Build(folder, t.TempDir()); err == nil || !strings.Contains(err.Error(), "README.md: link b.md") {
		t.Errorf("got %v", err)
	}
}
