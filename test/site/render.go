// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/karmada-compute/karmada-compute/test/pages"
)

// longestText bounds the text of a section in the index of the search, in bytes.
const longestText = 600

// reasonsPage has a row for each reason of a condition. Each has an anchor.
const reasonsPage = "docs/reference/reasons.md"

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))

// render reads a page, gives its headings anchors, and makes its links lead to pages of the site.
func (b *builder) render(p *page) error {
	source, err := os.ReadFile(filepath.Join(b.repository, filepath.FromSlash(p.source)))
	if err != nil {
		return err
	}
	root := markdown.Parser().Parse(text.NewReader(source))
	r := &rendering{builder: b, page: p, source: source, anchors: map[string]bool{}}
	if err := ast.Walk(root, r.visit); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, root); err != nil {
		return err
	}
	p.body, p.Title = out.String(), cmp.Or(p.Title, p.source)
	for i := range p.entries {
		p.entries[i].Page = p.Title
	}
	return nil
}

// rendering is the state of render.
type rendering struct {
	*builder
	page    *page
	source  []byte
	anchors map[string]bool
	// section is the anchor of the section.
	section string
}

func (r *rendering) visit(node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var err error
	switch node := node.(type) {
	case *ast.Heading:
		r.heading(node)
		return ast.WalkContinue, nil
	case *ast.Link:
		var link string
		link, err = r.link(string(node.Destination))
		node.Destination = []byte(link)
	case *ast.Image:
		err = r.image(string(node.Destination))
	case *extensionast.TableRow:
		r.row(node)
	}
	if pages.HoldsText(node) {
		r.add(pages.Words(node, r.source, true))
	}
	return ast.WalkContinue, err
}

// heading begins a section.
func (r *rendering) heading(node *ast.Heading) {
	title := pages.Words(node, r.source, true)
	r.section = pages.Anchor(title, r.anchors)
	node.SetAttributeString("id", []byte(r.section))
	r.page.Title = cmp.Or(r.page.Title, title)
	r.page.entries = append(r.page.entries, Entry{Title: title, Link: r.page.Link + "#" + r.section})
}

// row gives a reason an anchor, and an entry in the index.
func (r *rendering) row(node *extensionast.TableRow) {
	if r.page.source != reasonsPage {
		return
	}
	reason := pages.Words(node.FirstChild(), r.source, true)
	id := ReasonAnchor(r.section, reason)
	node.SetAttributeString("id", []byte(id))
	r.page.entries = append(r.page.entries, Entry{Title: reason, Link: r.page.Link + "#" + id})
}

// ReasonAnchor returns the anchor of a reason of a condition on the page of reasons.
func ReasonAnchor(condition, reason string) string {
	return strings.ToLower(condition) + "-" + strings.ToLower(reason)
}

// add adds text to the section's entry in the index.
func (r *rendering) add(words string) {
	if len(r.page.entries) == 0 {
		return
	}
	entry := &r.page.entries[len(r.page.entries)-1]
	if room := longestText - len(entry.Text) - len(" "); room > 0 {
		entry.Text = strings.TrimSpace(entry.Text + " " + strings.ToValidUTF8(words[:min(len(words), room)], ""))
	}
}

// place gives a page that the contents link to its place.
func (r *rendering) place(p *page) {
	if r.page.source == contents && p.place == 0 {
		r.placed++
		p.place = r.placed
	}
}

// link returns where a link leads on the site: to a page, or to a file of the repository.
func (r *rendering) link(destination string) (string, error) {
	if isElsewhere(destination) || strings.HasPrefix(destination, "#") {
		return destination, nil
	}
	file, anchor, hasAnchor := strings.Cut(destination, "#")
	target := path.Join(path.Dir(r.page.source), file)
	if hasAnchor {
		anchor = "#" + anchor
	}
	for _, source := range []string{target, path.Join(target, "README.md")} {
		if p := r.pages[source]; p != nil {
			r.place(p)
			return relative(r.page.Link, p.Link) + anchor, nil
		}
	}
	info, err := os.Stat(filepath.Join(r.repository, filepath.FromSlash(target)))
	switch {
	case err != nil:
		return "", fmt.Errorf("link %s: %w", destination, err)
	case info.IsDir():
		return Repository + "/tree/main/" + target, nil
	default:
		return Repository + "/blob/main/" + target + anchor, nil
	}
}

// image copies an image to the site, at its path in the repository.
func (r *rendering) image(destination string) error {
	if isElsewhere(destination) {
		return fmt.Errorf("image %s is not in the repository", destination)
	}
	name := path.Join(path.Dir(r.page.source), destination)
	content, err := os.ReadFile(filepath.Join(r.repository, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	return r.write(name, content)
}

func isElsewhere(link string) bool {
	return strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:")
}

// relative returns the path from one page to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}
