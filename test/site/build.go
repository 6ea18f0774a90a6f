// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package site builds the documentation as a site of static files with a search. The pages are the Markdown files as
// they are, so that the site has the anchors and links of GitHub.
package site

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Repository is where links lead that are not to pages.
const Repository = "https://github.com/karmada-compute/karmada-compute"

// folders hold pages; of the root only its own files are pages.
var folders = []string{".", "docs", "charts/karmada-compute"}

// contents is the page whose links are in the order of reading, and icon the picture of the site.
const contents, icon = "docs/README.md", "cli/page/assets/icon.svg"

//go:embed theme
var theme embed.FS

// layout is the template of a page.
var layout = template.Must(template.ParseFS(theme, "theme/page.html"))

// Entry is a section in the index of the search.
type Entry struct {
	// Page and Title name the section, Link leads to it from the root of the site, and Text is its beginning.
	Page  string `json:"page"`
	Title string `json:"title"`
	Link  string `json:"link"`
	Text  string `json:"text"`
}

// group is a part of the navigation.
type group struct {
	Title string
	Pages []*page
}

// Build writes the site of a repository into a folder.
func Build(repository, out string) error {
	sources, err := find(repository)
	if err != nil {
		return err
	}
	b := &builder{repository: repository, out: out, pages: map[string]*page{}}
	for _, source := range sources {
		b.pages[source] = &page{source: source, Link: linkOf(source)}
	}
	index := []Entry{}
	for _, source := range sources {
		if err := b.render(b.pages[source]); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		index = append(index, b.pages[source].entries...)
	}
	for _, source := range sources {
		if err := b.writePage(b.pages[source]); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}

	encoded, err := json.Marshal(index)
	if err != nil {
		return err
	}
	if err := b.write("search.json", encoded); err != nil {
		return err
	}
	picture, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(icon))) //nolint:gosec // The repository is the caller's.
	if err != nil {
		return err
	}
	if err := b.write(path.Base(icon), picture); err != nil {
		return err
	}
	for _, name := range []string{"style.css", "search.js"} {
		content, err := theme.ReadFile("theme/" + name)
		if err != nil {
			return err
		}
		if err := b.write(name, content); err != nil {
			return err
		}
	}
	return nil
}

// find returns the pages of a repository, as paths from its root.
func find(repository string) ([]string, error) {
	var found []string
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(repository), folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && folder == "." && name != ".":
				return fs.SkipDir
			case !entry.IsDir() && path.Ext(name) == ".md":
				found = append(found, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return found, nil
}

// linkOf returns the path of a page on the site.
func linkOf(source string) string {
	if path.Base(source) == "README.md" {
		return path.Join(path.Dir(source), "index.html")
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

type builder struct {
	repository, out string
	// pages are all pages by their sources. placed is how many of them have a place.
	pages  map[string]*page
	placed int
}

// page is a page of the site.
type page struct {
	source string
	// Link is its path on the site.
	Link  string
	Title string
	// place is its place among the links of the contents; 0: it has none.
	place   int
	body    string
	entries []Entry
}

// content holds the values of the template.
type content struct {
	Title string
	// Root leads from the page to the root of the site.
	Root       string
	Body       template.HTML
	Source     string
	Navigation []group
	Current    string
}

func (b *builder) writePage(p *page) error {
	var out strings.Builder
	if err := layout.Execute(&out, content{
		Title: p.Title, Root: strings.Repeat("../", strings.Count(p.Link, "/")), Current: p.Link,
		Body:   template.HTML(p.body), //nolint:gosec // The Markdown is the repository's, and its HTML is left out.
		Source: Repository + "/blob/main/" + p.source, Navigation: b.navigation(),
	}); err != nil {
		return err
	}
	return b.write(p.Link, []byte(out.String()))
}

// navigation returns the pages in the order in which a reader needs them.
func (b *builder) navigation() []group {
	groups := []group{
		{Title: "Start"}, {Title: "Tutorials"}, {Title: "How to"}, {Title: "Runbooks"}, {Title: "Reference"}, {Title: "Background"},
	}
	numbers := map[string]int{"docs/tutorial": 1, "docs/how-to": 2, "docs/runbooks": 3, "docs/reference": 4, "docs/decisions": 5}
	for _, p := range b.pages {
		if path.Dir(p.source) == "docs/decisions" && path.Base(p.source) != "README.md" {
			continue // the page of decisions lists them
		}
		at := numbers[path.Dir(p.source)]
		groups[at].Pages = append(groups[at].Pages, p)
	}
	for _, g := range groups {
		slices.SortFunc(g.Pages, comparePages)
	}
	return groups
}

// comparePages has pages with a place first, in the order of the contents.
func comparePages(p, q *page) int {
	if (p.place == 0) != (q.place == 0) {
		return cmp.Compare(q.place, p.place)
	}
	return cmp.Or(cmp.Compare(p.place, q.place), cmp.Compare(p.Title, q.Title))
}

func (b *builder) write(name string, content []byte) error {
	target := filepath.Join(b.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o600) //nolint:gosec // The names are of files of the repository.
}
